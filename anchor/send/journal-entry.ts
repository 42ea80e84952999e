/** What the journal holds, and what of it can be believed. */
import { type Hex, isHash, toHex } from '../../core/hex.ts'
import type { Keccak } from '../../core/proof/leaf.ts'

/**
 * One signed transaction. All versions of a batch have one nonce, so at most one of them is ever
 * mined; each is kept, for an older one may be.
 */
export type Version = {
  readonly hash: Hex
  readonly raw: Hex
  /** Wei, as decimal text: JSON has no big integers. */
  readonly maxFeePerGas: string
  readonly maxPriorityFeePerGas: string
  readonly signedMs: number
}

type Signed = {
  readonly index: number
  readonly nonce: number
  /** Oldest first. None where the anchor was found on the chain and its signing is forgotten. */
  readonly versions: readonly Version[]
}

type Mined = { readonly tx: Hex; readonly block: number; readonly blockHash: Hex }

/**
 *     (sealed) ─▶ signed ─▶ sent ─▶ mined ─▶ final
 *                            ▲        │        │
 *                            └─reorg──┴─audit──┘
 */
export type Entry =
  | (Signed & { readonly state: 'signed' | 'sent' })
  | (Signed & Mined & { readonly state: 'mined' | 'final' })

/** The nonce of batch `index` is `nonce0 + (index − index0)`. */
export type Pair = { readonly index0: number; readonly nonce0: number }

export type StopReason =
  /** A transaction of ours was mined and did nothing. */
  | 'REVERTED'
  /** The key's transactions are not only ours, or not all of ours. */
  | 'NONCE'
  /** The contract holds a head that none of our batches left. */
  | 'DIVERGED'

export type Stopped = {
  readonly reason: StopReason
  readonly words: string
  readonly index: number
  readonly sinceMs: number
}

type JsonObject = Readonly<Record<string, unknown>>
const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)
const isHashText = (value: unknown): value is Hex => typeof value === 'string' && isHash(value)

/** A torn or altered entry is none: what was signed must still have the hash it had. */
export function isEntry(value: unknown, index: number, keccak: Keccak): value is Entry {
  if (!isJsonObject(value) || value['index'] !== index || !isWhole(value['nonce'])) return false
  const { versions, state } = value
  if (!Array.isArray(versions) || !versions.every((one) => isVersion(one, keccak))) return false
  switch (state) {
    case 'signed':
    case 'sent':
      return versions.length > 0
    case 'mined':
    case 'final':
      return isHashText(value['tx']) && isWhole(value['block']) && isHashText(value['blockHash'])
    default:
      return false
  }
}

function isVersion(value: unknown, keccak: Keccak): value is Version {
  if (!isJsonObject(value) || !isWhole(value['signedMs'])) return false
  const { raw, hash, maxFeePerGas, maxPriorityFeePerGas } = value
  const isText = [maxFeePerGas, maxPriorityFeePerGas].every(
    (wei) => typeof wei === 'string' && /^\d+$/.test(wei),
  )
  if (!isText || typeof raw !== 'string' || !/^0x([0-9a-f]{2})+$/.test(raw)) return false
  return toHex(keccak(Buffer.from(raw.slice(2), 'hex'))) === hash
}

export const isPair = (value: unknown): value is Pair =>
  isJsonObject(value) && isWhole(value['index0']) && isWhole(value['nonce0'])

export const isFinal = (value: unknown): value is { readonly index: number } =>
  isJsonObject(value) && isWhole(value['index'])

export const isStopped = (value: unknown): value is Stopped =>
  isJsonObject(value) && typeof value['reason'] === 'string' && isWhole(value['index'])
