/** What the pipeline refused, or accepted only in part: stream REJECTED, one message per item. */
import { randomUUID } from 'node:crypto'
import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { partitionOf } from '../core/air/sensor-id.ts'
import { formatIso } from '../core/iso-time.ts'
import { type Refused, refusalReasons } from '../core/state/log-message.ts'
import { refusalWords } from '../core/state/refusal-words.ts'
import { reportBroken } from '../runtime/broken.ts'
import { MustAct, TryAgain } from '../runtime/exit.ts'
import { inParallel } from '../runtime/in-parallel.ts'
import { lastMessage, messageAt } from '../runtime/nats/stored-message.ts'
import { assertKnownHeader } from '../schemas/formats.ts'
import {
  againSubject,
  isSensorToken,
  rejectedHeaders,
  rejectedOf,
  rejectedStream,
} from '../schemas/subjects.ts'

export type Rejected = {
  /** `<reason>.<sensor>.<partition>.<raw sequence>.<item>`: the end of its subject. */
  readonly id: string
  readonly reason: string
  /** The sensor of the subject it was published on, which may be unknown. */
  readonly sensor: string
  readonly why: string
  /** When the broker stored it. */
  readonly arrived: string
  /** Bytes of the original; at most 64 KiB of it are stored. */
  readonly length: number
  readonly sha256: string
  /** Its place in REJECTED. */
  readonly seq: number
}

export type RejectedFilter = {
  /** empty: any */
  readonly reasons: readonly string[]
  readonly sensor: string | undefined
}

const prefix = 'air.rejected.'

/** All reasons for which an item is stored. */
export const rejectedReasons: readonly Refused['reason'][] = [...refusalReasons, 'partial']

/** How long a consumer that we could not delete exists at most. */
const idleConsumerNanos = 5_000_000_000

/** Reason, sensor (0.1 named none), partition, raw sequence, item. */
const rejectedPattern = /^air\.rejected\.[a-z_]+(\.[\w-]+)?\.\d+\.\d+\.\d+$/

/**
 * Why a message of REJECTED was not written by the pipeline; undefined: it was.
 * @throws NewerFormat
 */
export function rejectedFault(subject: string, headers: MsgHdrs | undefined): string | undefined {
  assertKnownHeader('rejected', headers, subject)
  if (!rejectedPattern.test(subject)) return 'its subject is not that of a stored item'
  const length = headers?.get(rejectedHeaders.length) ?? ''
  const arrived = headers?.get(rejectedHeaders.arrived) || '0'
  const areNumbers = [length, arrived].every((text) => /^\d{1,13}$/.test(text))
  return areNumbers ? undefined : 'it does not have the headers of a stored item'
}

export function readRejected(seq: number, subject: string, headers: MsgHdrs | undefined): Rejected {
  const id = subject.slice(prefix.length)
  const header = (name: keyof typeof rejectedHeaders): string =>
    headers?.get(rejectedHeaders[name]) ?? ''
  const [reason = ''] = id.split('.')
  return {
    id,
    reason,
    sensor: header('sensor'),
    why: header('why') || refusalWords(reason),
    arrived: formatIso(Number(header('arrived'))),
    length: Number(header('length')),
    sha256: header('sha256'),
    seq,
  }
}

/** How many are stored per reason, of reasons that have any. */
export async function countRejected(
  nc: NatsConnection,
): Promise<Readonly<Partial<Record<Refused['reason'], number>>>> {
  const manager = await jetstreamManager(nc)
  const counts = await Promise.all(
    rejectedReasons.map(async (reason) => [reason, await countOne(manager, reason)] as const),
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** A consumer used only to count what it would deliver. */
async function countOne(manager: JetStreamManager, reason: string): Promise<number> {
  const { name, num_pending: count } = await manager.consumers.add(rejectedStream, {
    filter_subject: `${prefix}${reason}.>`,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    inactive_threshold: idleConsumerNanos,
  })
  await manager.consumers.delete(rejectedStream, name)
  return count
}

/** The newest item of a sensor that was refused; what was accepted in part is none. */
export async function newestRejected(
  nc: NatsConnection,
  sensor: string,
): Promise<Rejected | undefined> {
  const message = await lastMessage(nc, rejectedStream, rejectedOf(sensor))
  if (message === undefined) return undefined
  const { seq, subject, headers } = message
  if (rejectedFault(subject, headers) !== undefined) return undefined
  const rejected = readRejected(seq, subject, headers)
  return rejected.reason === 'partial' ? undefined : rejected
}

/** The newest first. @param limit at most this many */
export async function listRejected(
  nc: NatsConnection,
  filter: RejectedFilter,
  limit: number,
): Promise<Rejected[]> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(rejectedStream)
  const matches: Rejected[] = []
  // The matches may be far back: read twice as much each time.
  let size = Math.max(500, limit)
  for (let end = state.last_seq; end >= state.first_seq && end > 0; ) {
    const start = Math.max(state.first_seq, end - size + 1)
    const part = await readSpan(nc, filter, start, end)
    matches.push(...part.toReversed())
    if (matches.length >= limit) break
    end = start - 1
    size *= 2
  }
  return matches.slice(0, limit)
}

/** The matches in [start, end], oldest first, without their bodies. */
async function readSpan(
  nc: NatsConnection,
  { reasons, sensor }: RejectedFilter,
  start: number,
  end: number,
): Promise<Rejected[]> {
  const consumer = await jetstream(nc).consumers.get(rejectedStream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: start,
    headers_only: true,
    ...(reasons.length > 0
      ? { filter_subjects: reasons.map((reason) => `${prefix}${reason}.>`) }
      : {}),
  })
  const matches: Rejected[] = []
  const { num_pending: pending } = await consumer.info()
  if (pending === 0) return matches
  const messages = await consumer.consume({ max_messages: 1_000 })
  for await (const message of messages) {
    if (message.seq <= end) {
      const { seq, subject, headers } = message
      const why = rejectedFault(subject, headers)
      if (why !== undefined) reportBroken({ stream: rejectedStream, seq, subject, why })
      else {
        const rejected = readRejected(seq, subject, headers)
        if (sensor === undefined || rejected.sensor === sensor) matches.push(rejected)
      }
    }
    if (isLast(message, end)) break
  }
  await messages.close()
  return matches
}

const isLast = ({ seq, info }: JsMsg, end: number): boolean => seq >= end || info.pending === 0

export type RejectedWithBytes = Rejected & {
  readonly bytes: Uint8Array
  /** The original was longer than what is stored. */
  readonly isTruncated: boolean
}

/** @param id its id or its whole subject @throws MustAct */
export async function needRejected(nc: NatsConnection, id: string): Promise<RejectedWithBytes> {
  const subject = id.startsWith(prefix) ? id : `${prefix}${id}`
  const message = rejectedPattern.test(subject)
    ? await lastMessage(nc, rejectedStream, subject)
    : undefined
  if (message === undefined || rejectedFault(message.subject, message.headers) !== undefined)
    throw new MustAct(`nothing is stored as ${id}: \`airproof rejected list\` shows the ids`)
  const rejected = readRejected(message.seq, message.subject, message.headers)
  return { ...rejected, bytes: message.data, isTruncated: rejected.length > message.data.length }
}

export type ReplayCounts = {
  replayed: number
  /** Only their beginning is stored: they cannot be sent again. */
  truncated: number
  /** The sensor of their subject is not a name that can be published to. */
  unsendable: number
  /** Deleted, or replaced, before their turn came. */
  gone: number
}

const inFlight = 100

/**
 * Publishes each item again as its sensor's, and removes it from REJECTED once it is stored.
 * @throws TryAgain if NATS does not accept one; those before it are done
 */
export async function replayRejected(
  nc: NatsConnection,
  rejected: readonly Rejected[],
  onProgress: (done: number) => void = () => undefined,
): Promise<ReplayCounts> {
  const manager = await jetstreamManager(nc)
  const again: ReplayCounts = { replayed: 0, truncated: 0, unsendable: 0, gone: 0 }
  // a sensor that knew it could use the ids first, so that what is sent here counts as a duplicate
  const run = randomUUID()
  let done = 0
  await inParallel(rejected, inFlight, async (item) => {
    again[await replayOne(nc, manager, run, item)] += 1
    onProgress(++done)
  })
  return again
}

async function replayOne(
  nc: NatsConnection,
  manager: JetStreamManager,
  run: string,
  { seq, sensor, length }: Rejected,
): Promise<keyof ReplayCounts> {
  const stored = await messageAt(nc, rejectedStream, seq)
  if (stored === undefined) return 'gone'
  if (stored.data.length < length) return 'truncated'
  if (!isSensorToken(sensor)) return 'unsendable'
  try {
    const subject = againSubject(partitionOf(sensor), sensor)
    await jetstream(nc).publish(subject, stored.data, { msgID: `${run}-${seq}` })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TryAgain(`${sensor}: NATS does not accept it now (${why})`, { cause })
  }
  // If killed before this, it may be sent again later, and is then judged a duplicate.
  await manager.streams.deleteMessage(rejectedStream, seq, false)
  return 'replayed'
}
