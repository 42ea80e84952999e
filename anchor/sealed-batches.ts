/** Bucket `batches` in memory: what is sealed, and its state on the chain. */

import type { KvEntry } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Hex } from '../core/hex.ts'
import type { BatchEnd } from '../core/proof/batch.ts'
import { jsonOf, readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
import {
  type AnchorAlarms,
  type Anchored,
  alarmsKey,
  anchoredKey,
  type Boundary,
  batchKey,
  borderKey,
  type Checked,
  checkedKey,
  headerKey,
  type OpenBatch,
  openKey,
  parseAnchored,
  parseBoundary,
  parseOpen,
  parseSealed,
  type SealedBatch,
  sealedEntry,
} from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'
import { type FencedBucket, overtaken, putRead } from './fence.ts'

export type SealedBatches = AsyncDisposable & {
  /** Index of the last sealed batch; all before it are there too. */
  readonly last: () => number
  readonly get: (index: number) => SealedBatch | undefined
  /** Which batch left this head; of the contract's first head the one before. undefined: not our batch. */
  readonly indexOfHead: (head: Hex) => number | undefined
  readonly anchored: (index: number) => Anchored | undefined
  /** Resolves when memory holds what was written before the call. */
  readonly barrier: () => Promise<void>
  readonly readBoundary: (index: number) => Promise<Boundary | undefined>
  /** Decides the batch, or learns how it was decided. @returns the boundary that counts */
  readonly decideBoundary: (index: number, boundary: Boundary) => Promise<Boundary>
  /** Once; a second time changes nothing. @throws Overtaken */
  readonly putSealed: (sealed: SealedBatch) => Promise<void>
  /** @throws Overtaken */
  readonly putAnchored: (anchored: Anchored) => Promise<void>
  /** @throws Overtaken */
  readonly putChecked: (checked: Checked) => Promise<void>
  readonly readOpen: () => Promise<OpenBatch | undefined>
  readonly putOpen: (open: OpenBatch) => Promise<void>
  /** The last batch of contract 1 is sealed: what follows in the log is for contract 2. */
  readonly putBorder: (index: number) => Promise<void>
  readonly putAlarms: (alarms: AnchorAlarms) => Promise<void>
}

type Value = { readonly sealed: SealedBatch } | { readonly anchored: Anchored } | undefined

/**
 * @param starts the end before the first batch, of each contract
 * @param records the bucket with the fence, if batches are sealed or sent with it
 */
export async function openSealedBatches(
  nc: NatsConnection,
  starts: readonly BatchEnd[],
  records?: FencedBucket,
): Promise<SealedBatches> {
  const heads = new Map(starts.map(({ head, index }) => [head, index]))
  const watched = await watchBucket<Value>(nc, buckets.batches, (value, key) => {
    if (key.startsWith('header.')) {
      const sealed = parseSealed(value)
      if (sealed) heads.set(sealed.head, sealed.header.index)
      return sealed && { sealed }
    }
    if (!key.startsWith('anchored.')) return undefined
    const anchored = parseAnchored(value)
    return anchored && { anchored }
  })
  const { kv: unfenced } = watched
  const kv = records ?? unfenced
  const sealedAt = (index: number): SealedBatch | undefined => {
    const value = watched.get(headerKey(index))
    return value && 'sealed' in value ? value.sealed : undefined
  }
  let last = 0
  const readBoundary = async (index: number): Promise<Boundary | undefined> =>
    parseBoundary(await readEntry(unfenced, batchKey(index)))

  return {
    last: () => {
      while (sealedAt(last + 1) !== undefined) last++
      return last
    },
    get: sealedAt,
    indexOfHead: (head) => heads.get(head),
    anchored: (index) => {
      const value = watched.get(anchoredKey(index))
      return value && 'anchored' in value ? value.anchored : undefined
    },
    barrier: watched.barrier,
    readBoundary,
    decideBoundary: async (index, boundary) => {
      await createOnce(kv, batchKey(index), { value: boundary, parse: parseBoundary })
      const decided = await readBoundary(index)
      if (decided === undefined) throw new Error(`batch ${index}: its boundary cannot be read`)
      return decided
    },
    putSealed: (sealed) =>
      createOnce(kv, headerKey(sealed.header.index), {
        value: sealedEntry(sealed),
        parse: parseSealed,
      }),
    putAnchored: (anchored) => putRead(kv, anchoredKey(anchored.index), anchored),
    putChecked: (checked) => putRead(kv, checkedKey, checked),
    readOpen: async () => parseOpen(await readEntry(unfenced, openKey)),
    putOpen: async (open) => void (await kv.put(openKey, JSON.stringify(open))),
    putAlarms: async (alarms) => void (await kv.put(alarmsKey, JSON.stringify(alarms))),
    putBorder: async (index) => void (await kv.put(borderKey, JSON.stringify({ index }))),
    [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose](),
  }
}

type Once<T> = {
  readonly value: T
  readonly parse: (value: unknown) => T | undefined
}

/** A second one finds it done. What cannot be read decides nothing, and is written over. @throws Overtaken */
async function createOnce<T>(
  kv: Pick<FencedBucket, 'get' | 'put'>,
  key: string,
  { value, parse }: Once<T>,
): Promise<void> {
  const isDone = (entry: KvEntry | null): boolean => parse(jsonOf(entry)) !== undefined
  const read = await kv.get(key)
  if (isDone(read)) return
  const put = kv.put(key, JSON.stringify(value), { previousSeq: read?.revision ?? 0 })
  const written = await unlessOvertaken(put).catch(async (error: unknown) => {
    // the answer did not come, and it may be written all the same
    if (!isDone(await kv.get(key))) throw error
  })
  if (written === 'overtaken' && !isDone(await kv.get(key))) throw overtaken(key)
}
