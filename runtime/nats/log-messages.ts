/**
 * Which messages of READINGS are the log, and which are foreign: written by something else, or
 * broken. Every reader asks here, so that all of them see the same log. A message is one of the log
 * when all of these hold:
 *
 * - its subject is that of one of the sixteen partitions;
 * - headers and body are those of a READINGS message;
 * - it passed the fence: the server keeps the sequence that it was published against;
 * - its readings are numbered on from the message that it says it follows (`Air-Former`, in 0.1 the
 *   message of the fence), as long as the log still holds that one;
 * - between that one and the fence there is no message of the log: what was written before and comes
 *   again through the fence, or forks the log, is foreign.
 *
 * A foreign message may be a partition's last: the next commit is published against its sequence
 * and names the last message of the log as its former.
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

/** undefined: foreign, and reported. Rejects if the server does not answer. @throws NewerFormat */
export type LogReader = (stored: StoredLogMessage) => Promise<LogMessage | undefined>

/** The numbers in a message's headers as they stand there; `readHeader` is for those of the log. */
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

/** The sequence of the partition's message of the log before this one; 0: it is the first. */
const formerOf = (headers: MsgHdrs | undefined): number =>
  Number(headers?.get(logHeaders.former) || fenceOf(headers))

/** Whether it is the next message of the log after that one. */
function goesOnFrom(
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

/** One for each reading of the log from a sequence on: it knows where each partition's log ends. */
export function logReader(nc: NatsConnection): LogReader {
  const ends = new Map<number, { readonly seq: number; readonly n: number }>()

  /** The readings up to the message at `former`; a word: it is not of the log, or not there. */
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
      return 'its readings are not numbered as its header says'
    if (events.some((event) => 'place' in event && readings[event.place] === undefined))
      return 'an event of it names a reading that is not in it'
    const former = formerOf(headers)
    if (!isCount(former) || former >= seq) return 'it follows no message'
    const count = await countAt(former, partition)
    if (count === 'foreign') return `it follows message ${former}, which is not of the log`
    if (count !== 'trimmed' && before !== count)
      return `its readings do not follow from the ${count} before them`
    // nothing is between: the server saw to it
    if (former === fenceOf(headers)) return undefined
    const after = await firstAfter({ seq: former, n: before }, partition, seq)
    if (after === undefined) return undefined
    return `it follows message ${former}, and message ${after} does so already`
  }

  /** The message of the log that comes after the one given, and before `seq`. */
  const firstAfter = async (
    former: { readonly seq: number; readonly n: number },
    partition: number,
    seq: number,
  ): Promise<number | undefined> => {
    const end = ends.get(partition)
    if (end !== undefined && end.seq < seq) {
      if (end.seq > former.seq) return end.seq
      // what is between was judged by this reader
      if (end.seq === former.seq) return undefined
    }
    const subject = readingsSubject(partition)
    for (let from = former.seq + 1; ; ) {
      const stored = await nextMessage(nc, readingsStream, subject, from)
      if (stored === undefined || stored.seq >= seq) return undefined
      if (goesOnFrom(former, stored)) return stored.seq
      from = stored.seq + 1
    }
  }

  return async (stored) => {
    const header = readHeader(stored.subject, stored.headers)
    let why = headerFault(header, stored.headers)
    if (why === undefined) {
      try {
        const message = decodeReadings(header, stored.data)
        why = await faultOf(stored, message)
        if (why === undefined) {
          ends.set(header.partition, { seq: stored.seq, n: message.nLast })
          return message
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
