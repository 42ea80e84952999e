/**
 * The newest batches and the state of each on the chain, read from the anchor process's records.
 */

import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { secondMs } from '../core/time.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import {
  anchoredKey,
  batchKey,
  checkedKey,
  type Deployment,
  headerKey,
  openKey,
  parseAnchored,
  parseBoundary,
  parseChecked,
  parseOpen,
  parseSealed,
} from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'
import { readNewestContract } from './newest-contract.ts'

export type BatchStatus = {
  readonly index: number
  /** Readings in it; null: its range is decided, but its header is not written yet. */
  readonly count: number | null
  /** READINGS sequences, both inclusive. */
  readonly first: number
  readonly last: number
  readonly sealed_at: string
  readonly state: 'closing' | 'sealed' | 'sent' | 'mined' | 'final'
  readonly tx: string | null
  readonly block: number | null
  readonly block_time: string | null
}

export type LastBatches = {
  /** The contract in use; null: nothing was ever anchored. */
  readonly deployment: Deployment | null
  /** The last check of a finalized head of the chain; it holds for every batch up to `index`. */
  readonly checked: { readonly index: number; readonly block: number; readonly at: string } | null
  /** Newest first. */
  readonly batches: readonly BatchStatus[]
}

/** @param limit how many of the newest */
export async function readLastBatches(nc: NatsConnection, limit: number): Promise<LastBatches> {
  const batches = await new Kvm(nc).open(buckets.batches)
  const [open, deployment, checked] = await Promise.all([
    valueOf(batches, openKey, parseOpen),
    readNewestContract(nc),
    valueOf(batches, checkedKey, parseChecked),
  ])
  // the open batch may just have been closed, so it is read too
  const newest = open?.index ?? -1
  const indices = Array.from({ length: limit + 1 }, (_, i) => newest - i).filter((i) => i >= 0)
  const records = await Promise.all(indices.map((index) => readBatch(batches, index)))
  return {
    deployment: deployment ?? null,
    checked:
      checked === undefined
        ? null
        : { index: checked.index, block: checked.number, at: formatIso(checked.checkedMs) },
    batches: records.filter((batch) => batch !== undefined).slice(0, limit),
  }
}

async function readBatch(kv: KV, index: number): Promise<BatchStatus | undefined> {
  const [boundary, sealed, anchored] = await Promise.all([
    valueOf(kv, batchKey(index), parseBoundary),
    valueOf(kv, headerKey(index), parseSealed),
    valueOf(kv, anchoredKey(index), parseAnchored),
  ])
  if (boundary === undefined) return undefined
  const blockTimeS = anchored?.blockTimeS ?? null
  return {
    index,
    count: sealed?.header.count ?? null,
    first: boundary.first,
    last: boundary.last,
    sealed_at: formatIso(boundary.sealedMs),
    state: anchored?.status ?? (sealed === undefined ? 'closing' : 'sealed'),
    tx: anchored?.tx ?? null,
    block: anchored?.block ?? null,
    block_time: blockTimeS === null ? null : formatIso(blockTimeS * secondMs),
  }
}

async function valueOf<T>(
  kv: KV,
  key: string,
  parse: (value: unknown) => T | undefined,
): Promise<T | undefined> {
  return parse(await readEntry(kv, key))
}
