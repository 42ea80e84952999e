import type { ReadingKey } from '../../core/air/reading.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import { encodeSnapshot } from '../../schemas/log/snapshot.ts'
import type { SnapshotWriter } from './write-snapshot.ts'

export type SnapshotKeeper = {
  /** Call only between messages: the state is then what the log says at its sequence. */
  readonly keep: (now: SnapshotMoment) => void
  /** Resolves when what was begun is written, or has failed. */
  readonly settled: () => Promise<void>
}

export type SnapshotMoment = {
  readonly storePosition: number
  readonly listenedMs: number
  readonly refusedKeys: Iterable<ReadingKey>
  readonly monotonicMs: number
  /** Do not wait until one is due. */
  readonly isLast?: boolean
}

type SnapshotOptions = {
  readonly startMs: number
  readonly level: LevelNow
  readonly onFailure: (error: unknown) => void
}

/** What one costs grows with the sensors, and what a start reads after it only with the time. */
const everyMs = (sensors: number): number =>
  Math.min(2 * minuteMs, Math.max(10 * secondMs, 2 * sensors))
const everyReadings = 100_000
/** A quiet partition's listening clock is kept too, so that silence outlasts a restart. */
const clockEveryMs = minuteMs

/** Takes a snapshot when one is due and something has changed; one is written at a time. */
export function snapshotKeeper(
  state: PartitionState,
  write: SnapshotWriter,
  { startMs, level, onFailure }: SnapshotOptions,
): SnapshotKeeper {
  let kept = { atMs: startMs, n: state.n, readingsSeq: 0, storePosition: 0, listenedMs: 0 }
  let writing: Promise<unknown> = Promise.resolve()
  let isWriting = false

  return {
    keep: ({ storePosition, listenedMs, refusedKeys, monotonicMs, isLast = false }) => {
      const isOld = monotonicMs - kept.atMs >= everyMs(state.ids.length)
      const isDue = isOld || state.n - kept.n >= everyReadings
      if ((!isDue || isWriting) && !isLast) return
      const { n, readingsSeq } = state
      const isSame =
        kept.readingsSeq === readingsSeq &&
        kept.storePosition === storePosition &&
        listenedMs - kept.listenedMs < clockEveryMs
      kept = { ...kept, atMs: monotonicMs }
      if (isSame || readingsSeq === 0) return
      kept = { atMs: monotonicMs, n, readingsSeq, storePosition, listenedMs }
      state.listenedMs = listenedMs
      const positions = { store: storePosition, events: readingsSeq, rejected: readingsSeq }
      const keys = [...refusedKeys].map(({ sensor, timeMs }) => [sensor, timeMs] as const)
      const chunks = encodeSnapshot(state, positions, keys, level.current())
      isWriting = true
      writing = writing
        .then(() => write(chunks))
        .catch(onFailure)
        .finally(() => {
          isWriting = false
        })
    },
    settled: async () => void (await writing),
  }
}
