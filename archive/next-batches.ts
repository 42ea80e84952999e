/** Which batches the next run takes: those after the last run's, as far as they are final. */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { BatchHeader } from '../core/proof/header.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import type { ArchiveEnd } from '../operate/archive/run-manifest.ts'
import { type ChainParts, chainPartsOf } from '../operate/exports/export-batches.ts'
import { createBatchIndex } from '../operate/proofs/batch-index.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { readDeployments } from '../runtime/nats/read-deployments.ts'
import {
  anchoredKey,
  headerKey,
  parseAnchored,
  parseSealed,
} from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'

export type NextBatches = {
  /** In order, without a gap; the last one holds a reading. */
  readonly headers: readonly BatchHeader[]
  readonly chain: ChainParts
  /** Everything that was accepted before the given sequence is in them, or in a run before. */
  readonly isComplete: boolean
}

/** A run holds 32 bytes a reading in memory, here and wherever it is verified. */
export const mostReadings = 4_000_000
const mostBatches = 2_000

type Wanted = {
  readonly end: ArchiveEnd
  /** The first log sequence that need not be in it. */
  readonly closing: number
  /** Take what is final, though more is to come. */
  readonly isPart: boolean
}

/** @returns undefined: there is nothing to archive, or not everything of the day is final yet */
export async function nextBatches(
  nc: NatsConnection,
  { end, closing, isPart }: Wanted,
  keccak: Keccak,
): Promise<NextBatches | undefined> {
  const kvm = new Kvm(nc)
  const [batches, proofs] = [await kvm.open(buckets.batches), await kvm.open(buckets.proofs)]
  const index = createBatchIndex(keccak)
  index.putDeployments(await readDeployments(await kvm.open(buckets.anchoring)))
  const read = async (number: number): Promise<BatchHeader | undefined> => {
    const sealed = parseSealed(await readEntry(batches, headerKey(number)))
    if (sealed === undefined) return undefined
    index.putSealed(number, sealed)
    index.putAnchored(number, parseAnchored(await readEntry(batches, anchoredKey(number))))
    return index.anchored(number)?.status === 'final' ? sealed.header : undefined
  }
  // the record before the first one is made from it
  if (end.batch > 0) await read(end.batch)
  const headers: BatchHeader[] = []
  let [readings, isFull] = [0, false]
  const reached = (): boolean => (headers.at(-1)?.last ?? end.position) >= closing - 1
  while (!reached() || isPart) {
    const header = await read(end.batch + headers.length + 1)
    if (header === undefined) break
    isFull =
      headers.length >= mostBatches || (readings > 0 && readings + header.count > mostReadings)
    if (isFull) break
    headers.push(header)
    readings += header.count
  }
  if (!reached() && !isFull && !isPart) return undefined
  const isComplete = reached()
  // only a reading can lead to the chain; heartbeats at the end go into the next run
  while (headers.at(-1)?.count === 0) headers.pop()
  if (headers.length === 0) return undefined
  return { headers, chain: chainPartsOf(index, proofs, keccak), isComplete }
}
