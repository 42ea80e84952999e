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
 * The last message of a subject, asked of the stream's leader: a replica that lags behind would
 * make a commit of ours look like somebody else's.
 */
export async function lastMessage(
  nc: NatsConnection,
  stream: string,
  subject: string,
  { timeout }: { readonly timeout?: number } = {},
): Promise<Stored | undefined> {
  return read(nc, stream, { last_by_subj: subject }, timeout)
}

/** The message at a sequence; undefined where it was trimmed or never was. */
export async function messageAt(
  nc: NatsConnection,
  stream: string,
  seq: number,
): Promise<Stored | undefined> {
  return read(nc, stream, { seq })
}

/** What the server writes down of the sequence that a publish expected. */
const fenceHeader = 'Nats-Expected-Last-Subject-Sequence'

/** With it the server looks at another subject than that of the message, so nothing was fenced. */
const otherSubjectHeader = 'Nats-Expected-Last-Subject-Sequence-Subject'

/** The message that a publish was made against, 0: the first; undefined: it passed no fence. */
export function fenceOf(headers: MsgHdrs | undefined): number | undefined {
  if (headers?.has(otherSubjectHeader) === true) return undefined
  const text = headers?.get(fenceHeader)
  return text === undefined || text === '' ? undefined : Number(text)
}

/** The first message of a subject at a sequence or behind it. */
export async function nextMessage(
  nc: NatsConnection,
  stream: string,
  subject: string,
  fromSeq: number,
): Promise<Stored | undefined> {
  return read(nc, stream, { seq: fromSeq, next_by_subj: subject })
}

/** The sequence of the first message stored at a time or later; undefined: nothing is so young. */
export async function firstSince(
  nc: NatsConnection,
  stream: string,
  sinceMs: number,
): Promise<number | undefined> {
  const { direct } = await jetstreamManager(nc, { checkAPI: false })
  try {
    const found = await direct.getMessage(stream, { start_time: new Date(sinceMs) })
    return found?.seq
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
    const found = await manager.streams.getMessage(stream, query)
    if (found === null) return undefined
    return {
      seq: found.seq,
      subject: found.subject,
      timeMs: found.time.getTime(),
      headers: found.header,
      data: found.data,
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

/** Somebody else was there first; it is how KV says that an entry has changed. */
export const isWrongLastSequence = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  (error.code === wrongLastSequence || error.code === wrongLastSequenceConstant)
