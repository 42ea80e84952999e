/**
 * The sealer: cuts the log into batches, one after the other, without a gap.
 *
 *     open ──due──▶ decided ──▶ sealed ──▶ the next one is open
 *
 * Open: leaves are made as messages come. Decided: KV create of `batch.<index>` fixes the range;
 * a second process takes the first one's. Sealed: blob, then `header.<index>`. Where the
 * process may die:
 *
 * - open: nothing is written; the log is read again from the batch's beginning;
 * - decided: the range is known, so its content is; the log is read again and the rest repeated;
 * - half-way through the blob: the same bytes are found there, and the rest is written;
 * - sealed, but no beacon noted for the next batch: that one has none.
 *
 * Contract 1 gets no leaf of version 2. Its last batch ends at the border of the two
 * (`core/state/border.ts`), and the sealer waits there until the process works with contract 2. Batches
 * that were sealed for a contract that was given up are sealed again before (`anchor/seal-again.ts`).
 */
import { once } from 'node:events'
import type { JetStreamClient } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Hex, zeroHash } from '../../core/hex.ts'
import { type BatchEnd, endOf, nextHeader } from '../../core/proof/batch.ts'
import { headerFault } from '../../core/proof/batch-faults.ts'
import { encodeHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { isAboveBorder } from '../../core/state/border.ts'
import { hourMs } from '../../core/time.ts'
import { followLog, type LogEntry } from '../../runtime/nats/follow-log.ts'
import { type Boundary, type SealedBatch, sealedOf } from '../../schemas/anchoring/batch-record.ts'
import type { SealedBatches } from '../sealed-batches.ts'
import { type BatchContent, batchContent } from './batch-content.ts'
import { writeBlob } from './write-blob.ts'

export type SealerOptions = {
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  readonly keccak: Keccak
  readonly batches: SealedBatches
  /** The end before the first batch. */
  readonly start: BatchEnd
  /** That is sealed for, where it is of version 2. */
  readonly contract?: Hex | undefined
  /** How long after its first reading arrived a batch is sealed. */
  readonly intervalMs: number
  readonly maxReadings: number
  /** How long after the batch before an idle log is sealed too. */
  readonly heartbeatMs?: number
  /** A finalized block, if one is known. */
  readonly beacon: () => Hex | undefined
  readonly nowMs: () => number
  readonly onSealed: (sealed: SealedBatch) => void
  /** All of contract 1 is sealed: batch `index` is its last one. */
  readonly onBorder: (index: number) => Promise<void>
  readonly stop: AbortSignal
}

type OpenBatch = {
  readonly end: BatchEnd
  readonly beacon: Hex
  readonly content: BatchContent
  /** Not before this may an empty batch be sealed. */
  readonly heartbeatAtMs: number
  /** The range, where it is decided. */
  readonly decided: Boundary | undefined
}

/** More of the log is on its way: a batch is not closed meanwhile because it is old. */
const behindMs = 5_000

/** Runs until `stop`. @throws MustAct, and NATS's errors; begin again after that */
export async function runSealer(options: SealerOptions): Promise<void> {
  while (!options.stop.aborted) await sealFromLog(options)
}

/** @returns when stopped, or when others have decided batches that this reading does not fit */
async function sealFromLog(options: SealerOptions): Promise<void> {
  const { nc, stop } = options
  await using opened = new AsyncDisposableStack()
  let batch = await openBatch(options)
  const log = await followLog(nc, { fromSeq: batch.end.last + 1 })
  const entries = log[Symbol.asyncIterator]()
  opened.defer(async () => {
    // an entry that we read ahead and never took must not keep the follower open
    const closed = log[Symbol.asyncDispose]()
    await Promise.all([closed, entries.return?.()])
  })
  let next = entries.next()
  // it is awaited below; a failure meanwhile must not count as unhandled
  next.catch(() => undefined)
  let isBehind = false
  for (;;) {
    const patienceMs = Math.max(waitMs(batch, options), isBehind ? behindMs : 0)
    const entry = isWhole(batch) ? undefined : await nextOrTime(next, patienceMs, stop)
    if (stop.aborted || entry === 'ended') return
    const isAtBorder = entry !== undefined && isForContract2(batch, entry.message)
    if (isAtBorder && batch.content.last() === batch.end.last) {
      await options.onBorder(batch.end.index)
      return await untilAborted(stop)
    }
    if (entry !== undefined && !isAtBorder) {
      isBehind = entry.pending > 0
      next = entries.next()
      next.catch(() => undefined)
      batch.content.add(entry.seq, entry.message)
    }
    const decided = batch.decided ?? (await decide(batch, { entry, isAtBorder }, options))
    if (decided === undefined) continue
    if (decided.last < batch.content.last()) return
    batch = { ...batch, decided }
    if (!isWhole(batch)) continue
    await seal(batch, decided, options)
    batch = await openBatch(options)
    // another process is ahead of us
    if (batch.end.last !== decided.last) return
  }
}

const isForContract2 = ({ end }: OpenBatch, message: LogEntry['message']): boolean =>
  end.version === undefined && message !== undefined && isAboveBorder(message)

const isWhole = ({ decided, content }: OpenBatch): boolean =>
  decided !== undefined && content.last() === decided.last

async function openBatch(options: SealerOptions): Promise<OpenBatch> {
  const { batches, start, keccak, nowMs, heartbeatMs = hourMs } = options
  await batches.barrier()
  const former = batches.get(batches.last())
  const isFirst = former === undefined || former.header.index <= start.index
  const end = isFirst ? start : endOf(former.header, keccak)
  const open = await batches.readOpen()
  return {
    end,
    beacon: open?.index === end.index + 1 ? open.beacon : zeroHash,
    content: batchContent(end, keccak),
    heartbeatAtMs: (former?.header.sealedMs ?? nowMs()) + heartbeatMs,
    decided: await batches.readBoundary(end.index + 1),
  }
}

/** How long until the batch is due if nothing more comes. */
function waitMs({ content, heartbeatAtMs, decided }: OpenBatch, options: SealerOptions): number {
  if (decided !== undefined) return Infinity
  const arrived = content.arrived()
  const dueMs = arrived === undefined ? heartbeatAtMs : arrived.firstMs + options.intervalMs
  return Math.max(0, dueMs - options.nowMs())
}

/** @returns the boundary that counts, where the batch is due: ours, or another process's */
async function decide(
  { content, end, heartbeatAtMs, beacon }: OpenBatch,
  { entry, isAtBorder }: { readonly entry: LogEntry | undefined; readonly isAtBorder: boolean },
  { batches, intervalMs, maxReadings, nowMs }: SealerOptions,
): Promise<Boundary | undefined> {
  const arrived = content.arrived()
  // read late, the log is cut where it would have been cut in time
  const clockMs = entry !== undefined && entry.pending > 0 ? arrived?.lastMs : nowMs()
  const isDue =
    isAtBorder ||
    (arrived === undefined
      ? (clockMs ?? 0) >= heartbeatAtMs
      : (clockMs ?? 0) - arrived.firstMs >= intervalMs || content.count() >= maxReadings)
  if (!isDue) return undefined
  const boundary = { first: end.last + 1, last: content.last(), sealedMs: nowMs(), beacon }
  return batches.decideBoundary(end.index + 1, boundary)
}

async function seal(
  { end, content }: OpenBatch,
  { last, sealedMs, beacon }: Boundary,
  { js, keccak, batches, contract, beacon: seenBlock, onSealed }: SealerOptions,
): Promise<void> {
  const built = await content.build()
  const { readings } = built
  const header = nextHeader(end, { last, sealedMs, beacon, ...(readings ? { readings } : {}) })
  const fault = headerFault(header)
  if (fault !== undefined) throw new RangeError(`batch ${header.index} is at fault: ${fault}`)
  await writeBlob(js, header.index, encodeHeader(header, keccak), built)
  const sealed = sealedOf(header, keccak, contract)
  await batches.putSealed(sealed)
  await batches.putOpen({ index: header.index + 1, beacon: seenBlock() ?? zeroHash })
  onSealed(sealed)
}

const untilAborted = async (stop: AbortSignal): Promise<void> => {
  if (!stop.aborted) await once(stop, 'abort')
}

/** The next entry of the log, or undefined when the time is over first. */
async function nextOrTime(
  next: Promise<IteratorResult<LogEntry>>,
  ms: number,
  stop: AbortSignal,
): Promise<LogEntry | 'ended' | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const end = (): void => resolve(undefined)
  // setTimeout takes no more than 2^31 ms
  const timer = setTimeout(end, Math.min(ms, hourMs))
  stop.addEventListener('abort', end, { once: true })
  // aborted before we listened
  if (stop.aborted) end()
  try {
    const result = await Promise.race([next, over])
    if (result === undefined) return undefined
    return result.done === true ? 'ended' : result.value
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
  }
}
