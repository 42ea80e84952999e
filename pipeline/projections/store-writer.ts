/**
 * The store writer: a projection of the log into rows, shared by the partitions of a process so
 * that small batches of many partitions become few large writes.
 *
 * A partition is fed from memory as long as the store keeps up. When more than `maxRows` wait, what
 * is offered is dropped again (the log holds it) and the partition is `behind`: as soon as there is
 * room its rows are read from READINGS, until the reader meets what is offered. Recovery after a
 * crash is the same path: every partition starts at its stored position, and rows that were
 * written already are written again, which is idempotent.
 */
import { partitionOfSeq } from '../../core/air/reading.ts'
import { endSpan, type SpanFacts, spanStart } from '../../runtime/trace.ts'
import { cellAt, countOf, type PackedReadings } from '../../store/packed-readings.ts'
import {
  type RefusedRow,
  type Store,
  StoreMisconfigured,
  StoreUnavailable,
} from '../../store/store.ts'
import type { ReadRows } from '../read-rows.ts'
import type { LogRows } from '../rows-at-hand.ts'

export type StoreWriterOptions = {
  readonly store: Pick<Store, 'writePacked'>
  readonly readRows: ReadRows
  /** Rows the engine will never take: listed, alarmed, remembered; resolves when that is durable. */
  readonly onRefused: (partition: number, refused: readonly RefusedRow[]) => Promise<void>
  readonly onFailure: (error: unknown) => void
  readonly onWritten: (rows: number) => void
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
  readonly batchRows?: number
  readonly lanes?: number
  readonly maxRows?: number
}

export type StoreWriter = {
  /** Takes a partition over: rows after `position` and up to `lastSeq` are read from the log. */
  readonly assign: (partition: number, position: number, lastSeq: number) => void
  /** A message just committed. Never waits. */
  readonly offer: (entry: LogRows) => void
  /** Everything of the partition up to this READINGS sequence is in the store. */
  readonly position: (partition: number) => number
  /** Resolves when the position has reached `seq`; never, if the partition is released. */
  readonly passed: (partition: number, seq: number) => Promise<void>
  readonly release: (partition: number) => void
  /** Rows held in memory. */
  readonly waitingRows: () => number
  /** Resolves when what is held is written, or at once where the store is away. */
  readonly drain: () => Promise<void>
}

type Pending = { readonly entry: LogRows; isDone: boolean }

type Partition = {
  readonly pending: Pending[]
  position: number
  /** The last sequence offered or known to exist. */
  offered: number
  /** The last sequence taken into the queue or skipped as empty. */
  taken: number
  isBehind: boolean
  readonly waiters: { readonly seq: number; readonly resolve: () => void }[]
}

function factsOf(batch: readonly Pending[], refused: number): SpanFacts {
  const rows = batch.map(({ entry }) => entry.rows)
  return {
    log: batch.map(({ entry }) => entry.seq).toSorted((a, b) => a - b),
    seqs: rows.map(({ cells, width }) => [
      cells[cellAt.seq]!,
      cells[cells.length - width + cellAt.seq]!,
    ]),
    attributes: {
      'airproof.rows': rows.reduce((sum, one) => sum + countOf(one), 0),
      'airproof.refused': refused,
    },
  }
}

const firstRetryMs = 100
const longestRetryMs = 5_000

export function startStoreWriter({
  store,
  readRows,
  onRefused,
  onFailure,
  onWritten,
  pause,
  stop,
  batchRows = 2_000,
  lanes = 2,
  maxRows = 50_000,
}: StoreWriterOptions): StoreWriter {
  const partitions = new Map<number, Partition>()
  const queue: Pending[] = []
  let waiting = 0
  /** Of these, in the queue: no lane has taken them. */
  let queued = 0
  let busyLanes = 0
  let isFailing = false
  let isWaking = false
  let isCatchingUp = false
  let reading: AbortController | undefined
  let idle: (() => void)[] = []

  const advance = (state: Partition): void => {
    while (state.pending[0]?.isDone === true) {
      const done = state.pending.shift()
      if (done !== undefined) state.position = done.entry.seq
    }
    // nothing waits: everything taken so far is stored
    if (state.pending.length === 0) state.position = Math.max(state.position, state.taken)
    for (let i = state.waiters.length - 1; i >= 0; i--) {
      const waiter = state.waiters[i]
      if (waiter === undefined || waiter.seq > state.position) continue
      state.waiters.splice(i, 1)
      waiter.resolve()
    }
  }

  const take = (state: Partition, entry: LogRows): void => {
    if (entry.seq <= state.taken) return
    state.taken = entry.seq
    const pending: Pending = { entry, isDone: sizeOf(entry) === 0 }
    if (!pending.isDone || state.pending.length > 0) state.pending.push(pending)
    if (pending.isDone) return advance(state)
    queue.push(pending)
    waiting += sizeOf(entry)
    queued += sizeOf(entry)
    wakeSoon()
  }

  /** What is committed in one turn is one write. */
  const wakeSoon = (): void => {
    if (isWaking) return
    isWaking = true
    setImmediate(() => {
      isWaking = false
      wakeLanes()
    })
  }

  const wakeLanes = (): void => {
    // a write that is not full waits for the one before: meanwhile it grows
    while (queue.length > 0 && busyLanes < (queued < batchRows ? 1 : lanes) && !stop.aborted) {
      busyLanes++
      void writeNext().finally(() => {
        busyLanes--
        wakeLanes()
      })
    }
    if (isIdle()) endDrain()
  }

  const isIdle = (): boolean => busyLanes === 0 && (queue.length === 0 || stop.aborted)

  const endDrain = (): void => {
    for (const resolve of idle) resolve()
    idle = []
  }

  const cut = (): Pending[] => {
    let rows = 0
    let count = 0
    for (const { entry } of queue) {
      if (count > 0 && rows + sizeOf(entry) > batchRows) break
      rows += sizeOf(entry)
      count++
    }
    queued -= rows
    return queue.splice(0, count)
  }

  const writeNext = async (): Promise<void> => {
    const batch = cut()
    if (batch.length === 0) return
    const startMs = spanStart()
    const refused = await writeUntilTaken(batch.map(({ entry }) => entry.rows))
    if (refused === undefined) return
    endSpan('store_write', startMs, () => factsOf(batch, refused.length))
    const all = [...batch.flatMap(({ entry }) => entry.faulty), ...refused]
    const byPartition = Map.groupBy(all, ({ row }) => partitionOfSeq(row.seq))
    await Promise.all([...byPartition].map(([partition, of]) => onRefused(partition, of)))
    const rows = batch.reduce((sum, { entry }) => sum + sizeOf(entry), 0)
    waiting -= rows
    onWritten(rows - all.length)
    for (const pending of batch) pending.isDone = true
    for (const { entry } of batch) {
      const state = partitions.get(entry.partition)
      if (state !== undefined) advance(state)
    }
    if (waiting < maxRows / 2) catchUp()
  }

  /** The engine takes the batch, now or when it is back. undefined: stopped before. */
  const writeUntilTaken = async (
    batches: readonly PackedReadings[],
  ): Promise<readonly RefusedRow[] | undefined> => {
    for (
      let retryMs = firstRetryMs;
      !stop.aborted;
      retryMs = Math.min(longestRetryMs, retryMs * 2)
    ) {
      try {
        const refused = await store.writePacked(batches)
        isFailing = false
        return refused
      } catch (error) {
        isFailing = true
        onFailure(error)
        const isForeseen = error instanceof StoreUnavailable || error instanceof StoreMisconfigured
        if (!isForeseen) retryMs = longestRetryMs
        endDrain()
        await pause(retryMs)
      }
    }
    return undefined
  }

  const behind = (): Partition[] => [...partitions.values()].filter(({ isBehind }) => isBehind)

  const catchUp = (): void => {
    if (isCatchingUp || stop.aborted || behind().length === 0) return
    isCatchingUp = true
    void readBehind()
      .catch(async (error: unknown) => {
        onFailure(error)
        await pause(firstRetryMs * 10)
      })
      .finally(() => {
        isCatchingUp = false
        if (waiting < maxRows / 2) catchUp()
      })
  }

  const readBehind = async (): Promise<void> => {
    reading = new AbortController()
    const { signal } = reading
    const fromSeq = Math.min(...behind().map(({ taken }) => taken)) + 1
    for await (const entry of readRows(fromSeq, AbortSignal.any([stop, signal]))) {
      if (signal.aborted) break
      const state = partitions.get(entry.partition)
      if (state?.isBehind === true) {
        take(state, entry)
        if (state.taken >= state.offered) state.isBehind = false
      }
      // nothing of theirs lies between what they took and here: it need not be read again
      for (const partition of behind()) partition.taken = Math.max(partition.taken, entry.seq)
      if (behind().length === 0 || waiting >= maxRows) break
    }
    reading.abort()
  }

  /**
   * The reader may be past the first row that is missing of a partition that just fell behind, or
   * may wait for a partition that was just released: it starts again at what is missing now.
   */
  const readAgain = (): void => {
    reading?.abort()
    if (waiting < maxRows / 2) catchUp()
  }

  return {
    assign: (partition, position, lastSeq) => {
      const isBehind = position < lastSeq
      partitions.set(partition, {
        pending: [],
        position,
        offered: lastSeq,
        taken: position,
        isBehind,
        waiters: [],
      })
      if (isBehind) readAgain()
    },
    offer: (entry) => {
      const state = partitions.get(entry.partition)
      if (state === undefined) return
      state.offered = entry.seq
      if (state.isBehind) return
      if (waiting + sizeOf(entry) > maxRows && waiting > 0) {
        state.isBehind = true
        readAgain()
        return
      }
      take(state, entry)
    },
    position: (partition) => partitions.get(partition)?.position ?? 0,
    passed: (partition, seq) =>
      new Promise((resolve) => {
        const state = partitions.get(partition)
        if (state === undefined) return
        if (state.position >= seq) resolve()
        else state.waiters.push({ seq, resolve })
      }),
    release: (partition) => {
      if (partitions.get(partition)?.isBehind === true) reading?.abort()
      partitions.delete(partition)
    },
    waitingRows: () => waiting,
    drain: () =>
      isIdle() || isFailing ? Promise.resolve() : new Promise((resolve) => void idle.push(resolve)),
  }
}

const sizeOf = ({ rows, faulty }: LogRows): number => countOf(rows) + faulty.length
