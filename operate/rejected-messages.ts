/** What the pipeline refused and kept: stream REJECTED, one message a refused item. */
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
  rejectedStream,
} from '../schemas/subjects.ts'

export type Rejected = {
  /** `<reason>.<sensor>.<partition>.<raw sequence>.<item>`: the end of its subject. */
  readonly id: string
  readonly reason: string
  /** The sensor of the subject it came on, which may be unknown. */
  readonly sensor: string
  readonly why: string
  /** When the broker stored it. */
  readonly arrived: string
  /** Bytes of the original; what is kept of it ends at 64 KiB. */
  readonly length: number
  readonly sha256: string
  /** Its place in REJECTED. */
  readonly seq: number
}

export type RejectedFilter = {
  /** none: any */
  readonly reasons: readonly string[]
  readonly sensor: string | undefined
}

const prefix = 'air.rejected.'

/** All that something may be kept for. */
export const rejectedReasons: readonly Refused['reason'][] = [...refusalReasons, 'partial']

/** So long a consumer outlives us that we could not delete. */
const askedOnceNanos = 5_000_000_000

/** Reason, sensor (0.1 named none), partition, raw sequence, item. */
const rejectedPattern = /^air\.rejected\.[a-z_]+(\.[\w-]+)?\.\d+\.\d+\.\d+$/

/** Why a message of REJECTED is not one that we kept there; undefined: it is. @throws NewerFormat */
export function rejectedFault(subject: string, headers: MsgHdrs | undefined): string | undefined {
  assertKnownHeader('rejected', headers, subject)
  if (!rejectedPattern.test(subject)) return 'its subject is not one of ours'
  const length = headers?.get(rejectedHeaders.length) ?? ''
  const arrived = headers?.get(rejectedHeaders.arrived) || '0'
  const areNumbers = [length, arrived].every((text) => /^\d{1,13}$/.test(text))
  return areNumbers ? undefined : 'it does not have the headers of what is kept there'
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

/** How many are kept of each reason that has any. */
export async function countRejected(
  nc: NatsConnection,
): Promise<Readonly<Partial<Record<Refused['reason'], number>>>> {
  const manager = await jetstreamManager(nc)
  const counts = await Promise.all(
    rejectedReasons.map(async (reason) => [reason, await countOne(manager, reason)] as const),
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** A consumer that is asked for nothing but what it would have to deliver. */
async function countOne(manager: JetStreamManager, reason: string): Promise<number> {
  const { name, num_pending: count } = await manager.consumers.add(rejectedStream, {
    filter_subject: `${prefix}${reason}.>`,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    inactive_threshold: askedOnceNanos,
  })
  await manager.consumers.delete(rejectedStream, name)
  return count
}

/** The newest first. @param limit at most so many */
export async function listRejected(
  nc: NatsConnection,
  filter: RejectedFilter,
  limit: number,
): Promise<Rejected[]> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(rejectedStream)
  const found: Rejected[] = []
  // What was asked for may lie far back: look at twice as much each time.
  let size = Math.max(500, limit)
  for (let end = state.last_seq; end >= state.first_seq && end > 0; ) {
    const start = Math.max(state.first_seq, end - size + 1)
    const some = await readSpan(nc, filter, start, end)
    found.push(...some.toReversed())
    if (found.length >= limit) break
    end = start - 1
    size *= 2
  }
  return found.slice(0, limit)
}

/** Those of [start, end] that fit, oldest first, without their bodies. */
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
    ...(reasons.length > 0 ? { filter_subjects: reasons.map((one) => `${prefix}${one}.>`) } : {}),
  })
  const found: Rejected[] = []
  const { num_pending: pending } = await consumer.info()
  if (pending === 0) return found
  const messages = await consumer.consume({ max_messages: 1_000 })
  for await (const message of messages) {
    if (message.seq <= end) {
      const { seq, subject, headers } = message
      const why = rejectedFault(subject, headers)
      if (why !== undefined) reportBroken({ stream: rejectedStream, seq, subject, why })
      else {
        const rejected = readRejected(seq, subject, headers)
        if (sensor === undefined || rejected.sensor === sensor) found.push(rejected)
      }
    }
    if (isLast(message, end)) break
  }
  await messages.close()
  return found
}

const isLast = ({ seq, info }: JsMsg, end: number): boolean => seq >= end || info.pending === 0

export type RejectedWithBytes = Rejected & {
  readonly bytes: Uint8Array
  /** More came in than is kept. */
  readonly isTruncated: boolean
}

/** @param id its id or its whole subject @throws MustAct */
export async function needRejected(nc: NatsConnection, id: string): Promise<RejectedWithBytes> {
  const subject = id.startsWith(prefix) ? id : `${prefix}${id}`
  const found = rejectedPattern.test(subject)
    ? await lastMessage(nc, rejectedStream, subject)
    : undefined
  if (found === undefined || rejectedFault(found.subject, found.headers) !== undefined)
    throw new MustAct(`nothing is kept as ${id}: \`airproof rejected list\` shows the ids`)
  const rejected = readRejected(found.seq, found.subject, found.headers)
  return { ...rejected, bytes: found.data, isTruncated: rejected.length > found.data.length }
}

export type Again = {
  replayed: number
  /** Only their beginning is kept: they cannot be sent again. */
  truncated: number
  /** The sensor of their subject is no name one can publish to. */
  unsendable: number
  /** Gone, or replaced, before their turn came. */
  gone: number
}

const inFlight = 100

/**
 * Publishes each again as its sensor's, and takes it out of REJECTED once it is stored.
 * @throws TryAgain where NATS does not take one; those before it are done
 */
export async function replayRejected(
  nc: NatsConnection,
  rejected: readonly Rejected[],
  onProgress: (done: number) => void = () => undefined,
): Promise<Again> {
  const manager = await jetstreamManager(nc)
  const again: Again = { replayed: 0, truncated: 0, unsendable: 0, gone: 0 }
  // a sensor that knew it could use up the ids, and have what is sent here taken for a repeat
  const run = randomUUID()
  let done = 0
  await inParallel(rejected, inFlight, async (one) => {
    again[await replayOne(nc, manager, run, one)] += 1
    onProgress(++done)
  })
  return again
}

async function replayOne(
  nc: NatsConnection,
  manager: JetStreamManager,
  run: string,
  { seq, sensor, length }: Rejected,
): Promise<keyof Again> {
  const stored = await messageAt(nc, rejectedStream, seq)
  if (stored === undefined) return 'gone'
  if (stored.data.length < length) return 'truncated'
  if (!isSensorToken(sensor)) return 'unsendable'
  try {
    const subject = againSubject(partitionOf(sensor), sensor)
    await jetstream(nc).publish(subject, stored.data, { msgID: `${run}-${seq}` })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TryAgain(`${sensor}: NATS does not take it now (${why})`, { cause })
  }
  // Killed before this it is sent again some day, and is then judged a duplicate.
  await manager.streams.deleteMessage(rejectedStream, seq, false)
  return 'replayed'
}
