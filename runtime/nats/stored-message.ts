/**
 * Single messages of a stream, always from its leader. A replica that lags answers a direct get with what
 * it has: our own commit could look like another process's, and what was just stored like nothing.
 */
import {
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type MsgRequest,
} from '@nats-io/jetstream'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'

export type Stored = {
  readonly seq: number
  readonly subject: string
  readonly timeMs: number
  readonly headers: MsgHdrs | undefined
  readonly data: Uint8Array
}

/** The last message of a subject. */
export async function lastMessage(
  nc: NatsConnection,
  stream: string,
  subject: string,
  { timeout }: { readonly timeout?: number } = {},
): Promise<Stored | undefined> {
  return read(nc, stream, { last_by_subj: subject }, timeout)
}

/** The message at a sequence; undefined if it was trimmed or never existed. */
export async function messageAt(
  nc: NatsConnection,
  stream: string,
  seq: number,
): Promise<Stored | undefined> {
  return read(nc, stream, { seq })
}

/** The sequence that a publish expects to be its subject's last; the server stores the header too. */
export const fenceHeader = 'Nats-Expected-Last-Subject-Sequence'

/** With it the server checks another subject than the message's own, so nothing was fenced. */
const otherSubjectHeader = 'Nats-Expected-Last-Subject-Sequence-Subject'

/** The sequence that a publish was made against, 0 for the first; undefined: it passed no fence. */
export function fenceOf(headers: MsgHdrs | undefined): number | undefined {
  if (headers?.has(otherSubjectHeader) === true) return undefined
  const text = headers?.get(fenceHeader)
  return text === undefined || text === '' ? undefined : Number(text)
}

/** The first message of a subject at a sequence or after it. */
export async function nextMessage(
  nc: NatsConnection,
  stream: string,
  subject: string,
  fromSeq: number,
): Promise<Stored | undefined> {
  return read(nc, stream, { seq: fromSeq, next_by_subj: subject })
}

/** The sequence of the first message stored at a time or later; undefined: there is none. */
export async function firstSince(
  nc: NatsConnection,
  stream: string,
  sinceMs: number,
): Promise<number | undefined> {
  return (await read(nc, stream, { start_time: new Date(sinceMs) }))?.seq
}

type Query =
  | { readonly last_by_subj: string }
  | { readonly seq: number; readonly next_by_subj?: string }
  | { readonly start_time: Date }

async function read(
  nc: NatsConnection,
  stream: string,
  query: Query,
  timeout?: number,
): Promise<Stored | undefined> {
  const manager = await jetstreamManager(nc, {
    checkAPI: false,
    ...(timeout === undefined ? {} : { timeout }),
  })
  return await readStored(manager, stream, query)
}

/** undefined: there is none. */
export async function readStored(
  manager: JetStreamManager,
  stream: string,
  query: Query,
): Promise<Stored | undefined> {
  // the server takes a time here too, which the client's type does not know
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const message = await manager.streams.getMessage(stream, query as MsgRequest)
  if (message === null) return undefined
  return {
    seq: message.seq,
    subject: message.subject,
    timeMs: message.time.getTime(),
    headers: message.header,
    data: message.data,
  }
}

// nats-server errors.json
const wrongLastSequence = 10_071
const wrongLastSequenceConstant = 10_164

/** Another write was first; for KV: the entry has changed. */
export const isWrongLastSequence = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  (error.code === wrongLastSequence || error.code === wrongLastSequenceConstant)
