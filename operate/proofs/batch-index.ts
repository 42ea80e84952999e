/**
 * Every sealed batch, in memory: which one holds a reading, and its state on the chain. Fed with
 * the records that the anchor process keeps; what they claim is computed again here, so
 * that an altered record is found and proves nothing.
 *
 * A batch counts as anchored where its own record is final and the heads, recomputed from the
 * headers, lead without a break to the head that the contract held at a finalized block. About
 * 2 KB a batch.
 *
 * A batch that was sealed for another contract than the one that counts for it is not anchored, whatever
 * its records say: it is sealed again soon. It breaks nothing, and vouches for no batch before it.
 */

import type { NatsConnection } from '@nats-io/transport-node'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import type { Hex } from '../../core/hex.ts'
import { recordHead } from '../../core/proof/chain-record.ts'
import { headOf, recordOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { minuteMs } from '../../core/time.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import {
  type Anchored,
  type Checked,
  checkedKey,
  parseAnchored,
  parseChecked,
  parseSealed,
  type SealedBatch,
} from '../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  beginsAfter,
  deploymentOfBatch,
  parseDeploymentAt,
  placeOfDeployment,
  startOf,
} from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'

/** A finalized head that was read longer ago than this may have changed since. */
export const freshMs = 5 * minuteMs

export type UnanchoredWhy =
  /** Sealed, and not sent yet. */
  | 'sealed'
  /** Sent, and in no block yet. */
  | 'sent'
  /** In a block that is not final yet. */
  | 'mined'
  /** Final by its record, but the chain was not looked at within `freshMs`. */
  | 'not_checked'
  /** The batches between this one and the contract's head do not fit together. */
  | 'not_linked'

/** The state of the batch of a sequence number right now. */
export type Standing =
  | { readonly status: 'pending' }
  | { readonly status: 'anchoring'; readonly index: number; readonly why: UnanchoredWhy }
  | {
      readonly status: 'anchored'
      readonly index: number
      readonly anchored: Anchored
      readonly checked: Checked
    }
  /** A record is altered or gone: what it held cannot be proven any more. */
  | {
      readonly status: 'broken'
      readonly index: number | undefined
      readonly why: 'no_batch' | 'header'
    }

export type BatchIndex = {
  /** Once the batch is known by its key; a record under another batch's key is at fault. */
  readonly putSealed: (index: number, sealed: SealedBatch | undefined) => void
  readonly putAnchored: (index: number, anchored: Anchored | undefined) => void
  readonly putChecked: (checked: Checked | undefined) => void
  /** @param deployments every contract, in the order that they were made */
  readonly putDeployments: (deployments: readonly AnyDeployment[]) => void
  readonly sealed: (index: number) => SealedBatch | undefined
  /** In the contract that counts for the batch. */
  readonly anchored: (index: number) => Anchored | undefined
  readonly checked: () => Checked | undefined
  /** The contract that a batch is anchored in. */
  readonly deploymentOf: (index: number) => AnyDeployment | undefined
  /** Every contract, in the order that they were made. */
  readonly deployments: () => readonly AnyDeployment[]
  /** Of the newest batch; 0: none is sealed. */
  readonly last: () => number
  readonly standingOf: (seq: number, nowMs: number) => Standing
  /**
   * The times of the earliest and the latest reading of all batches that hold some of these messages
   * of the log; undefined: they are not all in batches, or hold no reading.
   */
  readonly timesOf: (
    firstSeq: number,
    lastSeq: number,
  ) => { readonly minMs: number; readonly maxMs: number } | undefined
  /** How many batches are at fault by their own records: anything but 0 needs a person. */
  readonly faults: () => number
}

type Entry = {
  readonly index: number
  readonly sealed: SealedBatch
  /** Recomputed from the header. */
  readonly head: Hex
}

export function createBatchIndex(keccak: Keccak): BatchIndex {
  /** In the order of their keys. */
  const entries: Entry[] = []
  const anchors = new Map<number, Anchored>()
  /** Keys of batches that say something of themselves which does not follow from their header. */
  const altered = new Set<number>()
  /** Keys of batches whose former one is missing, or has another head than they say. */
  const unlinked = new Set<number>()
  /** Keys of batches that were sealed for another contract than the one that counts for them. */
  const elsewhere = new Set<number>()
  let checked: Checked | undefined
  let deployments: readonly AnyDeployment[] = []

  const at = (index: number): Entry | undefined => {
    // without a gap, which is how they come, the place is the index
    const straight = entries[index - 1]
    return straight?.index === index ? straight : entries.find((entry) => entry.index === index)
  }
  /** The head that a batch must follow: a contract's first one follows from where that goes on from. */
  const formerHead = (index: number): Hex | undefined => {
    const deployment = deploymentOfBatch(deployments, index)
    if (deployment === undefined || beginsAfter(deployment) !== index - 1)
      return at(index - 1)?.head
    const former = at(index - 1)
    // the contract goes on from the record of that very batch
    const isOurs = former === undefined || isSameRecord(former, deployment)
    return isOurs ? startOf(deployment, keccak).head : undefined
  }
  const isSameRecord = ({ sealed }: Entry, deployment: AnyDeployment): boolean =>
    'from' in deployment &&
    recordHead(recordOf(sealed.header, keccak), keccak) === recordHead(deployment.from, keccak)

  const link = (index: number): void => {
    const entry = at(index)
    const isKnown = index > 1 || deployments.length > 0
    elsewhere.delete(index)
    unlinked.delete(index)
    if (entry === undefined) return
    const { contract, header } = entry.sealed
    if (contract !== undefined && contract !== deploymentOfBatch(deployments, index)?.contract)
      elsewhere.add(index)
    else if (isKnown && formerHead(index) !== header.prevHead) unlinked.add(index)
  }

  const putSealed = (index: number, sealed: SealedBatch | undefined): void => {
    const place = entries.findLastIndex((entry) => entry.index <= index)
    const isThere = entries[place]?.index === index
    altered.delete(index)
    if (sealed === undefined) {
      if (isThere) entries.splice(place, 1)
    } else {
      const head = headOf(sealed.header, keccak)
      if (sealed.header.index !== index || head !== sealed.head) altered.add(index)
      entries.splice(isThere ? place : place + 1, isThere ? 1 : 0, { index, sealed, head })
    }
    link(index)
    link(index + 1)
  }

  /** The batch that claims the number; 'later': none yet; undefined: one should, and none does. */
  const holding = (seq: number): Entry | 'later' | undefined => {
    const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
    // a number of a partition that does not exist will never be given out
    if (!(partition >= 0 && partition < partitionCount)) return undefined
    const lastOf = (entry: Entry | undefined): number => entry?.sealed.header.nLast[partition] ?? 0
    if (n > lastOf(entries.at(-1))) return 'later'
    let low = 0
    let high = entries.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (lastOf(entries[middle]) < n) low = middle + 1
      else high = middle
    }
    const candidate = entries[low]
    const isHeld = n >= (candidate?.sealed.header.nFirst[partition] ?? Number.POSITIVE_INFINITY)
    return isHeld && n <= lastOf(candidate) ? candidate : undefined
  }

  /** Whether the batch's header is not the one that the next batch, or the contract, knows. */
  const isAltered = ({ index, head }: Entry): boolean =>
    altered.has(index) ||
    (unlinked.has(index + 1) && !altered.has(index + 1) && at(index + 1) !== undefined) ||
    (checked?.index === index && checked.head !== head)

  const isLinked = (index: number, to: Checked): boolean => {
    if (at(to.index)?.head !== to.head) return false
    for (const apart of [unlinked, elsewhere])
      for (const one of apart) if (one > index && one <= to.index) return false
    return true
  }

  const anchoredOf = (index: number): Anchored | undefined =>
    elsewhere.has(index) ? undefined : anchors.get(index)

  const standingOfEntry = (entry: Entry, nowMs: number): Standing => {
    const { index } = entry
    if (isAltered(entry)) return { status: 'broken', index, why: 'header' }
    const anchored = anchoredOf(index)
    if (anchored === undefined) return { status: 'anchoring', index, why: 'sealed' }
    if (anchored.status !== 'final') return { status: 'anchoring', index, why: anchored.status }
    if (!checked || checked.index < index || nowMs - checked.checkedMs > freshMs)
      return { status: 'anchoring', index, why: 'not_checked' }
    return isLinked(index, checked)
      ? { status: 'anchored', index, anchored, checked }
      : { status: 'anchoring', index, why: 'not_linked' }
  }

  /** Batches that say they were sealed for a contract that is not of these data. */
  const nowhere = (): number[] =>
    [...elsewhere].filter(
      (index) => !deployments.some(({ contract }) => contract === at(index)?.sealed.contract),
    )

  return {
    putSealed,
    putAnchored: (index, anchored) => {
      if (anchored?.index === index) anchors.set(index, anchored)
      else anchors.delete(index)
    },
    putChecked: (value) => {
      checked = value
    },
    putDeployments: (value) => {
      deployments = value
      for (const { index } of entries) link(index)
    },
    sealed: (index) => at(index)?.sealed,
    anchored: anchoredOf,
    checked: () => checked,
    deploymentOf: (index) => deploymentOfBatch(deployments, index),
    deployments: () => deployments,
    last: () => entries.at(-1)?.index ?? 0,
    standingOf: (seq, nowMs) => {
      const entry = holding(seq)
      if (entry === 'later') return { status: 'pending' }
      return entry === undefined
        ? { status: 'broken', index: undefined, why: 'no_batch' }
        : standingOfEntry(entry, nowMs)
    },
    timesOf: (firstSeq, lastSeq) => {
      let next = firstSeq
      let [minMs, maxMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      for (const { sealed } of entries) {
        const { first, last, count, timeMinMs, timeMaxMs } = sealed.header
        if (last < next || first > next || next > lastSeq) continue
        next = last + 1
        if (count === 0) continue
        minMs = Math.min(minMs, timeMinMs)
        maxMs = Math.max(maxMs, timeMaxMs)
      }
      return next > lastSeq && minMs <= maxMs ? { minMs, maxMs } : undefined
    },
    faults: () => new Set([...altered, ...unlinked, ...nowhere()]).size,
  }
}

export type WatchedBatchIndex = BatchIndex & AsyncDisposable

/** The index over the records of the anchor process, current as they change. */
export async function watchBatchIndex(
  nc: NatsConnection,
  keccak: Keccak,
): Promise<WatchedBatchIndex> {
  await using opening = new AsyncDisposableStack()
  const index = createBatchIndex(keccak)
  // the values themselves live in the index: what the watch keeps is one `true` a key
  const batches = await watchBucket(nc, buckets.batches, (value, key) => {
    take(index, key, value)
    return true as const
  })
  opening.use(batches)
  opening.defer(
    batches.onChange(({ key, value }) => {
      if (value === undefined) take(index, key, undefined)
    }),
  )
  const deployments = new Map<number, AnyDeployment>()
  const anchoring = await watchBucket(nc, buckets.anchoring, (value, key) => {
    const k = placeOfDeployment(key)
    const deployment = k === undefined ? undefined : parseDeploymentAt(k, value)
    if (k === undefined || deployment === undefined) return undefined
    deployments.set(k, deployment)
    index.putDeployments([...deployments].toSorted(([a], [b]) => a - b).map(([, row]) => row))
    return undefined
  })
  opening.use(anchoring)
  const opened = opening.move()
  return { ...index, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** @param value undefined: the record is gone; one that does not parse is as good as gone */
function take(index: BatchIndex, key: string, value: unknown): void {
  const [, kind = '', number = ''] = /^(header|anchored)\.(\d{1,15})$/.exec(key) ?? []
  if (kind === 'header') index.putSealed(Number(number), parseSealed(value))
  else if (kind === 'anchored') index.putAnchored(Number(number), parseAnchored(value))
  else if (key === checkedKey) index.putChecked(parseChecked(value))
}
