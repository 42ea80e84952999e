/**
 * The Solidity compiler from npm, offline. `node test/support/solidity.ts` writes the artifact of
 * the registry again; a test fails if it no longer matches its source.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import solc from 'solc'
import type { Abi, Hex } from 'viem'

export const registrySource = 'anchor/contract/AirproofAnchors.sol'
export const registryArtifact = 'anchor/contract/airproof-anchors.json'

/** Fixed: the bytes on every chain follow from them. `paris` has no opcode that an L2 lacks. */
export const settings = {
  optimizer: { enabled: true, runs: 10_000 },
  evmVersion: 'paris',
  outputSelection: {
    '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode'] },
  },
}

export type Compiled = {
  readonly contract: string
  readonly compiler: string
  readonly settings: typeof settings
  readonly abi: Abi
  readonly bytecode: Hex
  readonly deployedBytecode: Hex
  /** Where the constructor writes its own 32 bytes into the deployed bytecode. */
  readonly immutables: readonly number[]
}

/**
 * @param more settings in addition to the usual ones
 * @throws Error with the compiler's messages, warnings too
 */
export function compile(file: string, more: { readonly viaIR?: boolean } = {}): Compiled {
  const contract = basename(file, '.sol')
  const input = {
    language: 'Solidity',
    sources: { [basename(file)]: { content: readFileSync(file, 'utf8') } },
    settings: { ...settings, ...more },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  if (output.errors?.length > 0) {
    throw new Error(
      output.errors.map((error: { formattedMessage: string }) => error.formattedMessage).join('\n'),
    )
  }
  const { abi, evm } = output.contracts[basename(file)][contract]
  const references: Record<string, { start: number }[]> =
    evm.deployedBytecode.immutableReferences ?? {}
  return {
    contract,
    compiler: solc.version(),
    settings,
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    immutables: Object.values(references)
      .flat()
      .map(({ start }) => start)
      .toSorted((a, b) => a - b),
  }
}

if (import.meta.main) {
  writeFileSync(registryArtifact, `${JSON.stringify(compile(registrySource), undefined, 2)}\n`)
}
