/** The versions of the contract as the compiler made them, and which of them the code of a chain is. */
import { type Hex, isHex } from 'viem'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import artifact1 from './airproof-anchors.json' with { type: 'json' }
import artifact2 from './airproof-anchors-2.json' with { type: 'json' }

type Artifact = {
  readonly bytecode: string
  readonly deployedBytecode: string
  /** Where the constructor writes 32 bytes of its own, the owner, into the deployed bytecode. */
  readonly immutables: readonly number[]
}

const artifacts: Readonly<Record<ContractVersion, Artifact>> = { 1: artifact1, 2: artifact2 }

/** What is sent to deploy a contract, before its constructor's arguments. */
export function bytecodeOf(version: ContractVersion): Hex {
  const { bytecode } = artifacts[version]
  if (!isHex(bytecode) || bytecode.length < 4)
    throw new RangeError('the artifact of the contract holds no bytecode')
  return bytecode
}

/** Whether code from a chain is that of our contract in this version, with any owner. */
export function isRegistryCode(code: Hex, version: ContractVersion = 1): boolean {
  const { deployedBytecode, immutables } = artifacts[version]
  if (code.length !== deployedBytecode.length) return false
  const masked = immutables.reduce((text, start) => {
    const at = 2 + 2 * start
    return `${text.slice(0, at)}${'0'.repeat(64)}${text.slice(at + 64)}`
  }, code.toLowerCase())
  return masked === deployedBytecode
}

/** @returns undefined: the code is not ours, or there is none */
export const versionOfCode = (code: Hex): ContractVersion | undefined =>
  ([2, 1] as const).find((version) => isRegistryCode(code, version))
