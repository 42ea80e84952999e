/** What the messages of each stream must be, and a check of all that are stored. */
import { DeliverPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { shardCount } from '../../core/delivery/webhook-id.ts'
import { rejectedFault } from '../../operate/rejected-messages.ts'
import { reportBroken } from '../../runtime/broken.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { readWal } from '../../runtime/nats/wal-message.ts'
import { cutLeaves, decodeBlobTop } from '../../schemas/anchoring/batch-blob.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { parseEvent } from '../../schemas/log/event.ts'
import { readPrefix } from '../../schemas/log/snapshot-chunks.ts'
import { isRequests } from '../../schemas/people/requests.ts'
import {
  attemptsStream,
  auditStream,
  blobsStream,
  eventsStream,
  ledgerStream,
  manifestSubject,
  readingsStream,
  rejectedStream,
  requestsStream,
  stateStream,
  walSubject,
} from '../../schemas/subjects.ts'
import { isAttempt } from '../../schemas/webhooks/attempt.ts'
import { areRecords } from '../../schemas/webhooks/ledger-records.ts'
import { parseManifest } from '../../schemas/webhooks/ledger-snapshot.ts'

/** Reports broken messages itself, or returns why one is broken. */
type Check = (message: JsMsg) => Promise<string | undefined> | string | undefined

type Looking = { readonly stream: string; readonly check: Check }

export type Looked = {
  readonly stream: string
  readonly messages: number
  /** Older ones were not looked at. */
  readonly left: number
}

/** Of each stream but the log: a city's attempts and leaves may be tens of millions. */
const mostLookedAt = 200_000
/** Where only the newest are looked at; one of the log has up to 2,000 readings. */
const newest = { ofLog: 200, ofOthers: 1_000 }

const json =
  (isRight: (value: unknown) => boolean): Check =>
  (message) => {
    try {
      return isRight(message.json()) ? undefined : 'it is not as its schema says'
    } catch {
      return 'it is not JSON'
    }
  }

/** undefined where nothing throws. */
const unlessItThrows =
  (read: (message: JsMsg) => unknown): Check =>
  (message) => {
    try {
      read(message)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const checkEvent: Check = (message) => {
  if (message.subject.startsWith('air.events.anchored.')) return json(isObject)(message)
  const event = parseEvent(message.data)
  return typeof event === 'string' ? event : undefined
}

const checkLedger =
  (shard: number): Check =>
  (message) => {
    const { subject, data } = message
    if (subject === walSubject(shard)) void readWal(ledgerStream(shard), message)
    else if (subject === manifestSubject(shard))
      return parseManifest(data) === undefined ? 'it is not a manifest' : undefined
    else if (!areRecords(data)) return 'it does not hold ledger records'
    return undefined
  }

/**
 * RAW and TOPICS hold what devices send: whatever it is, it is judged and, if refused, stored in
 * REJECTED. MAIL's messages are encrypted, and the mail sender logs those it cannot decrypt.
 */
const looking = (nc: NatsConnection): readonly Looking[] => {
  const read = logReader(nc)
  return [
    {
      stream: readingsStream,
      check: async (message) => {
        await read(message)
        return undefined
      },
    },
    { stream: eventsStream, check: checkEvent },
    { stream: rejectedStream, check: ({ subject, headers }) => rejectedFault(subject, headers) },
    {
      stream: stateStream,
      check: ({ data }) => (readPrefix(data) === undefined ? 'it is not a snapshot' : undefined),
    },
    { stream: auditStream, check: json(isObject) },
    { stream: requestsStream, check: json(isRequests) },
    { stream: attemptsStream, check: json(isAttempt) },
    {
      stream: blobsStream,
      check: unlessItThrows(({ subject, data }) =>
        subject.endsWith('.top') ? decodeBlobTop(data) : cutLeaves(data),
      ),
    },
    ...Array.from({ length: shardCount }, (_, shard) => ({
      stream: ledgerStream(shard),
      check: checkLedger(shard),
    })),
  ]
}

/** Reports each message that is broken; changes nothing. */
export const lookAtStreams = (nc: NatsConnection, options: LookingAt): Promise<readonly Looked[]> =>
  Promise.all(looking(nc).map((stream) => lookAt(nc, stream, options)))

type LookingAt = {
  /** Not only the newest. */
  readonly isWhole: boolean
  /** Aborted when no more are looked at. */
  readonly enough: AbortSignal
}

async function whatIsWrong(check: Check, message: JsMsg): Promise<string | undefined> {
  try {
    return await check(message)
  } catch (error) {
    if (error instanceof NewerFormat) return error.message
    throw error
  }
}

async function lookAt(
  nc: NatsConnection,
  { stream, check }: Looking,
  { isWhole, enough }: LookingAt,
): Promise<Looked> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(stream)
  if (state.messages === 0) return { stream, messages: 0, left: 0 }
  const isLog = stream === readingsStream
  const most = isWhole
    ? isLog
      ? state.messages
      : mostLookedAt
    : isLog
      ? newest.ofLog
      : newest.ofOthers
  const fromSeq = Math.max(state.first_seq, state.last_seq - most + 1)
  const consumer = await jetstream(nc).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSeq,
  })
  const messages = await consumer.consume({ max_messages: 100 })
  let looked = 0
  const close = (): void => void messages.close()
  enough.addEventListener('abort', close, { once: true })
  try {
    if (enough.aborted) return { stream, messages: 0, left: state.messages }
    for await (const message of messages) {
      const why = await whatIsWrong(check, message)
      const { seq, subject } = message
      if (why !== undefined) reportBroken({ stream, seq, subject, why })
      looked++
      if (seq >= state.last_seq || message.info.pending === 0) break
    }
  } finally {
    enough.removeEventListener('abort', close)
    await messages.close()
  }
  return { stream, messages: looked, left: Math.max(0, state.messages - looked) }
}
