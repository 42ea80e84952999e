/**
 * Where a partition's worker begins: the snapshot, the log after it, and the place in RAW after the
 * last judged message. There is no other way to begin, after a crash either.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { evolve } from '../../core/state/evolve.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { createState, type PartitionState } from '../../core/state/partition-state.ts'
import { MustAct } from '../../runtime/exit.ts'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { readSnapshot } from '../../runtime/nats/read-snapshot.ts'
import {
  firstSince,
  lastMessage,
  messageAt,
  type Stored,
} from '../../runtime/nats/stored-message.ts'
import type { RefusedKey } from '../../schemas/log/snapshot.ts'
import { rawStream, readingsStream, readingsSubject } from '../../schemas/subjects.ts'

export type Recovered = {
  readonly state: PartitionState
  /** The partition's last message in the log; undefined before the first. */
  readonly last: { readonly seq: number; readonly message: LogMessage } | undefined
  /** READINGS sequence up to which the store surely holds everything. */
  readonly storePosition: number
  readonly refusedKeys: readonly RefusedKey[]
  /** The first raw message not judged yet. */
  readonly rawFrom: number
  /** RAW does not end as the log says: it was resumed by time, and a person should know. */
  readonly rawLost: boolean
}

/** @throws MustAct where the log lacks messages that were in it once */
export async function recover(nc: NatsConnection, partition: number): Promise<Recovered> {
  const subject = readingsSubject(partition)
  const [stored, snapshot] = await Promise.all([
    lastMessage(nc, readingsStream, subject),
    readSnapshot(nc, partition),
  ])
  const state = snapshot?.state ?? createState(partition)
  const lastSeq = stored?.seq ?? 0
  if (state.readingsSeq > lastSeq) {
    throw new MustAct(
      `the log of partition ${partition} ends at ${lastSeq}, but a snapshot knows message ${state.readingsSeq}: READINGS was purged or replaced; restore a backup`,
    )
  }
  if (lastSeq > state.readingsSeq) await foldLog(nc, state, lastSeq)
  return {
    state,
    last: await lastOfLog(nc, state),
    storePosition: snapshot?.positions.store ?? 0,
    refusedKeys: snapshot?.refusedKeys ?? [],
    ...(await rawPosition(nc, state)),
  }
}

/** The message that the state ends with; what comes after it is foreign. */
async function lastOfLog(
  nc: NatsConnection,
  { partition, readingsSeq }: PartitionState,
): Promise<Recovered['last']> {
  if (readingsSeq === 0) return undefined
  const stored = await messageAt(nc, readingsStream, readingsSeq)
  const message = stored && (await logReader(nc)(stored))
  if (message?.partition !== partition)
    throw new MustAct(
      `a snapshot of partition ${partition} knows message ${readingsSeq} of its log, and the log does not hold it: READINGS was purged or replaced; restore a backup`,
    )
  return { seq: readingsSeq, message }
}

async function foldLog(nc: NatsConnection, state: PartitionState, lastSeq: number): Promise<void> {
  const { partition } = state
  await using log = await followLog(nc, { fromSeq: state.readingsSeq + 1, partition })
  for await (const { seq, message } of log) {
    const first = message === undefined ? state.n : message.nLast - message.readings.length
    if (first !== state.n) {
      throw new MustAct(
        `the log of partition ${partition} jumps from reading ${state.n} to ${first + 1} at message ${seq}: it was trimmed too far; restore a backup`,
      )
    }
    if (message !== undefined) evolve(state, message, seq)
    if (seq >= lastSeq) return
  }
}

/**
 * The next raw message to judge. A stream that lost its tail (a power failure) gives its sequences
 * out again, so the message at our position must be the one we judged; else its time decides.
 */
async function rawPosition(
  nc: NatsConnection,
  { partition, rawLast, rawLastTimeMs }: PartitionState,
): Promise<Pick<Recovered, 'rawFrom' | 'rawLost'>> {
  const stream = rawStream(partition)
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(stream)
  const at: Stored | undefined = rawLast > 0 ? await messageAt(nc, stream, rawLast) : undefined
  const isReused = at !== undefined && at.timeMs !== rawLastTimeMs
  if (state.last_seq >= rawLast && !isReused) return { rawFrom: rawLast + 1, rawLost: false }
  const later = await firstSince(nc, stream, rawLastTimeMs + 1)
  return { rawFrom: later ?? state.last_seq + 1, rawLost: true }
}
