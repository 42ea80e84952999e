/**
 * The commit: one publish to the log, accepted only if the partition's last message is the one we
 * built on. A process that is not the partition's worker any more learns it here, before anything
 * else of it was written.
 */
import type { JetStreamClient } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../core/log-message.ts'
import { TryAgain } from '../runtime/exit.ts'
import { logReader } from '../runtime/log-messages.ts'
import { isWrongLastSequence, nextMessage } from '../runtime/stored-message.ts'
import { encodeReadings } from '../schemas/readings-message.ts'
import { logHeaders, readingsStream, readingsSubject } from '../schemas/subjects.ts'

/** Another worker has written to our partition: stop, and let the leases decide. */
export class Fenced extends TryAgain {}

export type Log = {
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  /** Resolves after `ms`, or at once when the process stops. */
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
  /** Called at each failed try, with what the server said. */
  readonly onRetry: (error: unknown) => void
}

const publishTimeoutMs = 2_000
const retryMs = 250

/**
 * Durable when resolved. Waits through outages of the server.
 * @param lastSeq sequence of the partition's last message of the log, 0 if there is none
 * @returns the sequence of the new message  @throws Fenced
 */
export async function commit(log: Log, message: LogMessage, lastSeq: number): Promise<number> {
  const subject = readingsSubject(message.partition)
  const body = encodeReadings(message)
  const header = headersOf(message, lastSeq)
  let expected = lastSeq
  for (;;) {
    try {
      const { seq } = await log.js.publish(subject, body, {
        headers: header,
        expect: { lastSubjectSequence: expected },
        timeout: publishTimeoutMs,
      })
      return seq
    } catch (error) {
      if (isWrongLastSequence(error)) {
        const after = await lookAfter(log, message, expected)
        if (after !== undefined && 'own' in after) return after.own
        if (after !== undefined) {
          expected = after.end
          continue
        }
      } else log.onRetry(error)
      // A time-out says nothing: the message may be stored, and the next try will tell.
      if (log.stop.aborted) throw new TryAgain('stopped before NATS took the commit')
      await log.pause(retryMs)
    }
  }
}

/**
 * After "wrong last sequence": our own publish that timed out and landed, another worker's message,
 * or foreign ones, which change nothing but the sequence to publish against.
 * @returns undefined: the server did not answer  @throws Fenced
 */
async function lookAfter(
  log: Log,
  message: LogMessage,
  expected: number,
): Promise<{ readonly own: number } | { readonly end: number } | undefined> {
  const read = logReader(log.nc)
  const subject = readingsSubject(message.partition)
  let end = expected
  try {
    for (;;) {
      const stored = await nextMessage(log.nc, readingsStream, subject, end + 1)
      if (stored === undefined) break
      end = stored.seq
      const found = await read(stored)
      if (found === undefined) continue
      if (found.worker === message.worker && found.rawLast === message.rawLast) return { own: end }
      throw new Fenced(
        `partition ${message.partition} has another worker now (${found.worker}): giving it up`,
      )
    }
  } catch (error) {
    if (error instanceof Fenced) throw error
    log.onRetry(error)
    return undefined
  }
  // nothing is after it: the server has lost what we built on
  if (end === expected)
    throw new Fenced(`partition ${message.partition} has lost its log: giving it up`)
  return { end }
}

function headersOf(message: LogMessage, former: number) {
  const header = headers()
  header.set(logHeaders.worker, message.worker)
  header.set(logHeaders.rawLast, String(message.rawLast))
  header.set(logHeaders.rawLastTime, String(message.rawLastTimeMs))
  header.set(logHeaders.nLast, String(message.nLast))
  header.set(logHeaders.count, String(message.readings.length))
  header.set(logHeaders.lateTo, String(message.lateTo))
  header.set(logHeaders.former, String(former))
  return header
}
