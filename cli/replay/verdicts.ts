/**
 * Follows READINGS for what became of the readings sent: the log names every one of them, as
 * accepted, repeated or refused.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { TryAgain } from '../../runtime/exit.ts'
import { followLog, type LogEntry } from '../../runtime/nats/follow-log.ts'
import { rawStream, readingsStream } from '../../schemas/subjects.ts'

export type Verdicts = {
  readonly accepted: number
  /** Accepted readings of which a value was not believable and was dropped. */
  readonly partial: number
  readonly duplicate: number
  readonly conflict: number
  readonly refused: Readonly<Record<string, number>>
}

export const judgedOf = ({ accepted, duplicate, conflict, refused }: Verdicts): number =>
  accepted + duplicate + conflict + Object.values(refused).reduce((sum, n) => sum + n, 0)

/** The state before the first reading was sent. */
export type Start = {
  /** The last sequence of READINGS. */
  readonly logSeq: number
  /** The last sequence of each RAW stream and the broker's time of it, by partition. */
  readonly raw: readonly { readonly seq: number; readonly timeMs: number }[]
}

/** The verdicts on some sensors' readings since a start. Takes the messages of the log in order. */
export type Tally = {
  readonly take: (entry: Pick<LogEntry, 'seq' | 'message'>) => void
  /** Everything up to these raw sequences is judged, including late readings. */
  readonly isSettled: (stored: ReadonlyMap<number, number>) => boolean
  readonly verdicts: () => Verdicts
}

type Partition = {
  rawLast: number
  lateTo: number
  /** The last message that held readings of ours for the late lane. */
  deferredAt: number
}

/** @param isOurs whether a sensor's readings are counted */
export function openTally(start: Start, isOurs: (sensor: string) => boolean): Tally {
  const partitions: Partition[] = Array.from({ length: partitionCount }, () => ({
    rawLast: 0,
    lateTo: 0,
    deferredAt: 0,
  }))
  const refused: Record<string, number> = {}
  let accepted = 0
  let partial = 0
  let duplicate = 0
  let conflict = 0

  const count = (message: LogMessage, before: Start['raw'][number]): void => {
    for (const { sensor, arrivedMs } of message.readings)
      if (arrivedMs > before.timeMs && isOurs(sensor)) accepted += 1
    if (message.rawLast > before.seq)
      for (const [sensor, times] of message.duplicates) if (isOurs(sensor)) duplicate += times
    for (const { sensor, rawSeq, reason } of message.refused) {
      if (rawSeq <= before.seq || !isOurs(sensor)) continue
      if (reason === 'partial') partial += 1
      else if (reason === 'conflict') conflict += 1
      else refused[reason] = (refused[reason] ?? 0) + 1
    }
  }
  return {
    take({ seq, message }) {
      if (message === undefined) return
      const partition = partitions[message.partition]
      const before = start.raw[message.partition]
      if (partition === undefined || before === undefined) return
      partition.rawLast = Math.max(partition.rawLast, message.rawLast)
      partition.lateTo = Math.max(partition.lateTo, message.lateTo)
      if (message.deferred.some(({ sensor, rawSeq }) => rawSeq > before.seq && isOurs(sensor)))
        partition.deferredAt = seq
      count(message, before)
    },
    isSettled: (stored) =>
      [...stored].every(([number, rawSeq]) => {
        const partition = partitions[number]
        return (
          partition !== undefined &&
          partition.rawLast >= rawSeq &&
          partition.lateTo >= partition.deferredAt
        )
      }),
    verdicts: () => ({ accepted, partial, duplicate, conflict, refused: { ...refused } }),
  }
}

export type VerdictFollower = AsyncDisposable & {
  readonly verdicts: () => Verdicts
  /**
   * Resolves when everything up to these raw sequences is judged.
   * @throws TryAgain where the log does not advance for `patienceMs`
   */
  readonly settled: (
    stored: ReadonlyMap<number, number>,
    options: SettleOptions,
  ) => Promise<Verdicts>
}

type SettleOptions = {
  readonly patienceMs: number
  readonly onWait?: (verdicts: Verdicts) => void
  readonly stop?: AbortSignal | undefined
}

/** Subscribes before anything is sent, so nothing is missed. */
export async function followVerdicts(
  nc: NatsConnection,
  isOurs: (sensor: string) => boolean,
): Promise<VerdictFollower> {
  const start = await readStart(await jetstreamManager(nc))
  const tally = openTally(start, isOurs)
  const log = await followLog(nc, { fromSeq: start.logSeq + 1 })
  let received = Promise.withResolvers<void>()
  let heardAtMs = performance.now()
  let failure: Error | undefined
  const pump = (async () => {
    try {
      for await (const entry of log) {
        tally.take(entry)
        heardAtMs = performance.now()
        received.resolve()
        received = Promise.withResolvers()
      }
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      received.resolve()
    }
  })()
  return {
    verdicts: tally.verdicts,
    async settled(stored, { patienceMs, onWait, stop }) {
      heardAtMs = performance.now()
      while (!tally.isSettled(stored)) {
        if (failure !== undefined) throw failure
        stop?.throwIfAborted()
        onWait?.(tally.verdicts())
        if (performance.now() - heardAtMs > patienceMs) throw new TryAgain(silentLog(patienceMs))
        await soonest(received.promise, 250)
      }
      return tally.verdicts()
    },
    [Symbol.asyncDispose]: async () => {
      await log[Symbol.asyncDispose]()
      await pump
    },
  }
}

const silentLog = (patienceMs: number): string =>
  `the readings are stored, but the pipeline has judged nothing for ${Math.round(patienceMs / 1_000)} s: is it running, and does its store answer? (airproof status)`

async function soonest(event: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController()
  await Promise.race([event, wait(ms, undefined, { signal: timer.signal }).catch(() => undefined)])
  timer.abort()
}

async function readStart(manager: JetStreamManager): Promise<Start> {
  const state = async (stream: string): Promise<{ seq: number; timeMs: number }> => {
    const { last_seq: seq, last_ts: time } = (await manager.streams.info(stream)).state
    return { seq, timeMs: seq === 0 ? 0 : Date.parse(time) }
  }
  const [log, ...raw] = await Promise.all([
    state(readingsStream),
    ...Array.from({ length: partitionCount }, (_, partition) => state(rawStream(partition))),
  ])
  return { logSeq: log.seq, raw }
}
