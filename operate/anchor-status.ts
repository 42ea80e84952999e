/** What is final on the chain, and what is not yet, as the anchor process records it. */

import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { secondMs } from '../core/time.ts'
import { readEntry } from '../runtime/nats/read-entry.ts'
import {
  anchoredKey,
  checkedKey,
  headerKey,
  parseAnchored,
  parseChecked,
  parseSealed,
} from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'
import { readNewestContract } from './newest-contract.ts'

export type AnchorStatus = {
  /** The last batch in a finalized block; null: there is none. */
  readonly last: {
    readonly batch: number
    /** The time of that block. */
    readonly anchored_at: string
  } | null
  /** Readings that are accepted, but in no such batch. */
  readonly not_anchored: number
  /** The chain of the contract in use; null: there is no contract yet. */
  readonly chain_id: number | null
}

/** @param accepted readings, ever */
export async function readAnchorStatus(
  nc: NatsConnection,
  accepted: number,
): Promise<AnchorStatus> {
  const kv = await new Kvm(nc).open(buckets.batches)
  const [checked, deployment] = await Promise.all([
    valueOf(kv, checkedKey, parseChecked),
    readNewestContract(nc),
  ])
  const chain_id = deployment?.chainId ?? null
  const index = checked?.index ?? 0
  const [sealed, anchored] = await Promise.all([
    valueOf(kv, headerKey(index), parseSealed),
    valueOf(kv, anchoredKey(index), parseAnchored),
  ])
  const isKnown = sealed !== undefined && anchored?.status === 'final'
  if (!isKnown || anchored.blockTimeS === null)
    return { last: null, not_anchored: accepted, chain_id }
  const held = sealed.header.nLast.reduce((total, n) => total + n, 0)
  return {
    last: { batch: index, anchored_at: formatIso(anchored.blockTimeS * secondMs) },
    not_anchored: Math.max(0, accepted - held),
    chain_id,
  }
}

async function valueOf<T>(
  kv: KV,
  key: string,
  parse: (value: unknown) => T | undefined,
): Promise<T | undefined> {
  return parse(await readEntry(kv, key))
}
