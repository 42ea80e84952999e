/**
 * The network as it is now, in memory: the state of all partitions and the newest readings. Seeded
 * from snapshots, fed by READINGS; when following the log fails, or a message is missing,
 * everything is seeded again, as at a start.
 *
 *     seeding ──▶ catching up ──present reached──▶ live
 *        ▲            └──────── broke off ─────────┘
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { evolve } from '../../core/state/evolve.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { createState, type PartitionState } from '../../core/state/partition-state.ts'
import type { RollupProgress } from '../../operate/rollup-progress.ts'
import type { Logger } from '../../runtime/log.ts'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { seedStates } from '../../runtime/nats/seed-states.ts'
import { pause } from '../../runtime/pause.ts'
import type { NewestReadings } from './newest-readings.ts'

export type LivePicture = AsyncDisposable & {
  /** By partition. */
  readonly states: () => readonly PartitionState[]
  /**
   * Everything that READINGS held at the last start has been folded, and nothing has failed since.
   */
  readonly isLive: () => boolean
  /** The sequence folded last. */
  readonly position: () => number
  /** Calls back after a message was folded; `undefined` after everything was seeded again. */
  readonly onFolded: (listener: (message: LogMessage | undefined) => void) => void
}

type Options = {
  readonly nc: NatsConnection
  readonly newest: NewestReadings
  readonly progress: RollupProgress
  readonly log: Logger
}

const againAfterMs = 500

/** Resolves at once; the picture is complete when `isLive`. */
export function openLivePicture({ nc, newest, progress, log }: Options): LivePicture {
  const stop = new AbortController()
  const listeners = new Set<(message: LogMessage | undefined) => void>()
  let states: readonly PartitionState[] = Array.from({ length: partitionCount }, (_, partition) =>
    createState(partition),
  )
  let position = 0
  let presentSeq = Number.POSITIVE_INFINITY

  const fold = (seq: number, message: LogMessage | undefined): void => {
    if (message === undefined) {
      position = seq
      return
    }
    const state = states[message.partition]
    if (state === undefined) throw new Error(`READINGS holds a partition ${message.partition}`)
    if (seq > state.readingsSeq && message.nLast - message.readings.length !== state.n) {
      throw new Error(`READINGS has a gap before ${seq} in partition ${message.partition}`)
    }
    evolve(state, message, seq)
    newest.add(message.readings)
    progress.note(seq, message.readings)
    position = seq
    for (const listener of listeners) listener(message)
  }

  const followOnce = async (): Promise<void> => {
    presentSeq = Number.POSITIVE_INFINITY
    const seed = await seedStates(nc, progress.position())
    states = seed.states
    position = seed.fromSeq - 1
    newest.clear()
    for (const listener of listeners) listener(undefined)
    presentSeq = seed.lastSeq
    await using follower = await followLog(nc, { fromSeq: seed.fromSeq })
    const end = (): void => void follower[Symbol.asyncDispose]()
    stop.signal.addEventListener('abort', end, { once: true })
    if (stop.signal.aborted) return
    for await (const { seq, message } of follower) fold(seq, message)
    stop.signal.removeEventListener('abort', end)
  }

  const following = (async () => {
    while (!stop.signal.aborted) {
      try {
        await followOnce()
      } catch (error) {
        if (stop.signal.aborted || nc.isClosed()) break
        log.warn({ err: error }, 'lost the log: starting again from the snapshots')
      }
      presentSeq = Number.POSITIVE_INFINITY
      await pause(againAfterMs, stop.signal)
    }
  })()

  return {
    states: () => states,
    isLive: () => position >= presentSeq,
    position: () => position,
    onFolded: (listener) => void listeners.add(listener),
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await following
    },
  }
}
