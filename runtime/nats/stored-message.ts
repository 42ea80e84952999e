import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'

export type Stored = {
  readonly seq: number
  readonly subject: string
  readonly timeMs: number
  readonly headers: MsgHdrs | undefined
  readonly data: Uint8Array
}

/**
 * The last message of a subject, from the stream's leader: with a replica that lags behind, our own
 * commit could look like another process's.
 */
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

/** In this header the server records the sequence that a publish expected. */
const fenceHeader = 'Nats-Expected-Last-Subject-Sequence'

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
  const { direct } = await jetstreamManager(nc, { checkAPI: false })
  try {
    const message = await direct.getMessage(stream, { start_time: new Date(sinceMs) })
    return message?.seq
  } catch (error) {
    if (error instanceof JetStreamApiError) return undefined
    throw error
  }
}

type Query =
  | { readonly last_by_subj: string }
  | { readonly seq: number; readonly next_by_subj?: string }

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
  try {
    const message = await manager.streams.getMessage(stream, query)
    if (message === null) return undefined
    return {
      seq: message.seq,
      subject: message.subject,
      timeMs: message.time.getTime(),
      headers: message.header,
      data: message.data,
    }
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === noMessageFound) return undefined
    throw error
  }
}

// nats-server errors.json
const noMessageFound = 10_037
const wrongLastSequence = 10_071
const wrongLastSequenceConstant = 10_164

/** Another write was first; for KV: the entry has changed. */
export const isWrongLastSequence = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  (error.code === wrongLastSequence || error.code === wrongLastSequenceConstant)
