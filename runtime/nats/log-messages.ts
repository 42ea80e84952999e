/**
 * Which messages of READINGS are the log, and which are foreign: written by something else, or
 * broken. Every reader uses this module, so that all of them see the same log. A message belongs to
 * the log if all of these hold:
 *
 * - its subject is that of one of the sixteen partitions;
 * - headers and body are those of a READINGS message;
 * - it passed the fence: the server records the sequence that it was published against;
 * - its readings continue the numbers of the message that it names as its former (`Air-Former`, in
 *   0.1 the message of the fence), if the log still holds that one;
 * - between that one and the fence there is no message of the log: an older message that passes the
 *   fence again, or forks the log, is foreign.
 *
 * A foreign message may be the last of a partition: the next commit is published against its
 * sequence and names the last message of the log as its former.
 */
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { seqOf } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { decodeReadings, type LogHeader } from '../../schemas/log/readings-message.ts'
import {
  logHeaders,
  partitionOfReadings,
  readingsStream,
  readingsSubject,
} from '../../schemas/subjects.ts'
import { reportBroken, whyOf } from '../broken.ts'
import { fenceOf, messageAt, nextMessage, type Stored } from './stored-message.ts'

export type StoredLogMessage = {
  readonly seq: number
  readonly subject: string
  readonly headers?: MsgHdrs | undefined
  readonly data: Uint8Array
}

/** undefined: foreign, and reported. Rejects if the server does not respond. @throws NewerFormat */
export type LogReader<T = LogMessage> = (stored: StoredLogMessage) => Promise<T | undefined>

/** What a reader keeps of each message. */
export type Digest<T> = {
  /** What is known of a message with this header, at this sequence, because this process has committed or read it. */
  readonly known: (header: LogHeader, seq: number) => T | undefined
  readonly of: (message: LogMessage, seq: number) => T
}

const wholeMessage: Digest<LogMessage> = { known: () => undefined, of: (message) => message }

/** The numbers in a message's headers, unchecked: `headerFault` judges them. */
export function readHeader(subject: string, headers: MsgHdrs | undefined): LogHeader {
  const number = (name: string): number => Number(headers?.get(name) || 0)
  return {
    partition: partitionOfReadings(subject),
    worker: headers?.get(logHeaders.worker) ?? '',
    rawLast: number(logHeaders.rawLast),
    rawLastTimeMs: number(logHeaders.rawLastTime),
    nLast: number(logHeaders.nLast),
    lateTo: number(logHeaders.lateTo),
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** Why the headers are not those of a message of the log; undefined: they are. */
function headerFault(header: LogHeader, headers: MsgHdrs | undefined): string | undefined {
  const { partition, worker, rawLast, rawLastTimeMs, nLast, lateTo } = header
  if (!isCount(partition) || partition >= partitionCount)
    return 'its subject is not that of a partition'
  if (worker === '') return `it has no header ${logHeaders.worker}`
  if (![rawLast, rawLastTimeMs, nLast, lateTo].every(isCount))
    return 'a number in its headers is not a number'
  if (fenceOf(headers) === undefined) return 'it was published without the fence'
  return undefined
}

/** The sequence of the partition's previous message of the log; 0: this is the first. */
const formerOf = (headers: MsgHdrs | undefined): number =>
  Number(headers?.get(logHeaders.former) || fenceOf(headers))

/** Whether it is the next message of the log after `former`. */
function continues(
  former: { readonly seq: number; readonly n: number },
  { subject, headers, data }: Stored,
): boolean {
  const header = readHeader(subject, headers)
  if (headerFault(header, headers) !== undefined || formerOf(headers) !== former.seq) return false
  try {
    const { readings, nLast } = decodeReadings(header, data)
    return nLast - readings.length === former.n
  } catch (error) {
    if (error instanceof NewerFormat) throw error
    return false
  }
}

/** Use one per pass over the log: it remembers where each partition's log ends. */
export function logReader(nc: NatsConnection): LogReader
export function logReader<T>(nc: NatsConnection, digest: Digest<T>): LogReader<T>
export function logReader(
  nc: NatsConnection,
  digest: Digest<unknown> = wholeMessage,
): LogReader<unknown> {
  const ends = new Map<number, { readonly seq: number; readonly n: number }>()

  /** The number of readings up to the message at `former`, or why it is unknown. */
  const countAt = async (
    former: number,
    partition: number,
  ): Promise<number | 'trimmed' | 'foreign'> => {
    if (former === 0) return 0
    const end = ends.get(partition)
    if (end?.seq === former) return end.n
    const stored = await messageAt(nc, readingsStream, former)
    if (stored === undefined) return 'trimmed'
    const header = readHeader(stored.subject, stored.headers)
    const isOfLog =
      header.partition === partition && headerFault(header, stored.headers) === undefined
    return isOfLog ? header.nLast : 'foreign'
  }

  const faultOf = async (
    { seq, headers }: StoredLogMessage,
    { partition, nLast, readings, events }: LogMessage,
  ): Promise<string | undefined> => {
    const before = nLast - readings.length
    if (readings.some((reading, place) => reading.seq !== seqOf(partition, before + place + 1)))
      return 'the numbers of its readings do not match its header'
    if (events.some((event) => 'place' in event && readings[event.place] === undefined))
      return 'one of its events names a reading that is not in it'
    const former = formerOf(headers)
    if (!isCount(former) || former >= seq) return 'it follows no message'
    const count = await countAt(former, partition)
    if (count === 'foreign') return `it follows message ${former}, which is not of the log`
    if (count !== 'trimmed' && before !== count)
      return `its readings do not follow from the ${count} before them`
    // nothing is in between: the server checked that
    if (former === fenceOf(headers)) return undefined
    const after = await firstAfter({ seq: former, n: before }, partition, seq)
    if (after === undefined) return undefined
    return `it follows message ${former}, but message ${after} already does`
  }

  /** The message of the log that follows `former`, before `seq`. */
  const firstAfter = async (
    former: { readonly seq: number; readonly n: number },
    partition: number,
    seq: number,
  ): Promise<number | undefined> => {
    const end = ends.get(partition)
    if (end !== undefined && end.seq < seq) {
      if (end.seq > former.seq) return end.seq
      // this reader has judged the messages in between
      if (end.seq === former.seq) return undefined
    }
    const subject = readingsSubject(partition)
    for (let from = former.seq + 1; ; ) {
      const stored = await nextMessage(nc, readingsStream, subject, from)
      if (stored === undefined || stored.seq >= seq) return undefined
      if (continues(former, stored)) return stored.seq
      from = stored.seq + 1
    }
  }

  return async (stored) => {
    const header = readHeader(stored.subject, stored.headers)
    let why = headerFault(header, stored.headers)
    if (why === undefined) {
      const known = digest.known(header, stored.seq)
      if (known !== undefined) {
        ends.set(header.partition, { seq: stored.seq, n: header.nLast })
        return known
      }
      try {
        const message = decodeReadings(header, stored.data)
        why = await faultOf(stored, message)
        if (why === undefined) {
          ends.set(header.partition, { seq: stored.seq, n: message.nLast })
          return digest.of(message, stored.seq)
        }
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        why = whyOf(error)
      }
    }
    reportBroken({ stream: readingsStream, seq: stored.seq, subject: stored.subject, why })
    return undefined
  }
}
