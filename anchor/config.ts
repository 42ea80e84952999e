import { join } from 'node:path'
import { isAddress } from 'viem'
import type { Hex } from '../core/hex.ts'
import { hourMs } from '../core/time.ts'
import { WrongUsage } from '../runtime/exit.ts'
import { readSettings, type SettingsSource } from '../runtime/settings.ts'
import type { FeeRules } from './chain/fees.ts'
import type { KeptForClients } from './trim.ts'

export type ChainSettings = {
  /** Used in this order; the next one when one does not answer. Empty: no chain is known. */
  readonly rpcUrls: readonly string[]
  /** The chain it must be; undefined: that of the deployment. */
  readonly chainId: number | undefined
  /** Lower case; undefined: that of the deployment. */
  readonly contract: Hex | undefined
  /** Where the contract was deployed, or before: its events are read from there. */
  readonly contractBlock: number
  readonly keyFile: string
  readonly rpcTimeoutMs: number
}

export type AnchorConfig = ChainSettings & {
  /** A batch is sealed at most this long after its first reading. */
  readonly intervalMs: number
  /** A batch is sealed when it holds this many readings, at a message's end. */
  readonly maxReadings: number
  /** The chain is looked at so often. */
  readonly pollMs: number
  readonly fees: FeeRules
  /** The chain is the anvil of `airproof up`, so the process may put contracts on it. */
  readonly makesContracts: boolean
  /** How much of READINGS is kept for clients. */
  readonly kept: KeptForClients
}

/** @throws WrongUsage that names the variable */
export function readChainSettings(source: SettingsSource, dataFolder: string): ChainSettings {
  const settings = readSettings(source)
  const urls = settings.url('CHAIN_RPC_URL')
  const contract = settings.text('ANCHOR_CONTRACT')
  if (contract !== undefined && !isAddress(contract, { strict: false }))
    throw new WrongUsage(`ANCHOR_CONTRACT must be an address, and is "${contract}"`)
  return {
    rpcUrls: urls === undefined ? [] : urls.split(',').map((url) => url.trim()),
    chainId: settings.int('CHAIN_ID'),
    contract: contract && `0x${contract.slice(2).toLowerCase()}`,
    contractBlock: settings.int('ANCHOR_CONTRACT_BLOCK'),
    keyFile: settings.text('ANCHOR_KEY_FILE') ?? join(dataFolder, 'anchor.key'),
    rpcTimeoutMs: settings.durationMs('ANCHOR_RPC_TIMEOUT'),
  }
}

/** @throws WrongUsage that names the variable */
export function readAnchorConfig(source: SettingsSource, dataFolder: string): AnchorConfig {
  const settings = readSettings(source)
  return Object.freeze({
    ...readChainSettings(source, dataFolder),
    intervalMs: settings.durationMs('ANCHOR_INTERVAL'),
    maxReadings: settings.int('ANCHOR_MAX_READINGS'),
    kept: {
      forMs: settings.int('AIRPROOF_LOG_HOURS') * hourMs,
      bytes: settings.int('AIRPROOF_LOG_BYTES'),
    },
    makesContracts: settings.yes('ANCHOR_MAKES_CONTRACTS'),
    pollMs: settings.durationMs('ANCHOR_POLL'),
    fees: {
      capWei: gweiToWei(settings.int('ANCHOR_MAX_FEE_GWEI')),
      bumpAfterMs: settings.durationMs('ANCHOR_BUMP_AFTER'),
    },
  })
}

const gweiToWei = (gwei: number): bigint => BigInt(gwei) * 1_000_000_000n
