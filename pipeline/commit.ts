/**
 * The commit: one publish to the log, accepted only if the partition's last message is the one we
 * built on. Whoever is not the partition's worker any more learns it here, before anything else of
 * his was written.
 */
import type { JetStreamClient } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../core/log-message.ts'
import { TryAgain } from '../runtime/exit.ts'
import { readHeader } from '../runtime/follow-log.ts'
import { isWrongLastSequence, lastMessage } from '../runtime/stored-message.ts'
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
 * @param lastSeq sequence of the partition's last message in READINGS, 0 if there is none
 * @returns the sequence of the new message  @throws Fenced
 */
export async function commit(log: Log, message: LogMessage, lastSeq: number): Promise<number> {
  const subject = readingsSubject(message.partition)
  const body = encodeReadings(message)
  const header = headersOf(message)
  for (;;) {
    try {
      const { seq } = await log.js.publish(subject, body, {
        headers: header,
        expect: { lastSubjectSequence: lastSeq },
        timeout: publishTimeoutMs,
      })
      return seq
    } catch (error) {
      if (isWrongLastSequence(error)) {
        const settled = await ownSequence(log, message, lastSeq)
        if (settled !== undefined) return settled
      } else log.onRetry(error)
      // A time-out says nothing: the message may be stored, and the next try will tell.
      if (log.stop.aborted) throw new TryAgain('stopped before NATS took the commit')
      await log.pause(retryMs)
    }
  }
}

/** After "wrong last sequence": our own publish that timed out and landed, or somebody else's. */
async function ownSequence(
  log: Log,
  message: LogMessage,
  lastSeq: number,
): Promise<number | undefined> {
  const last = await lastMessage(log.nc, readingsStream, readingsSubject(message.partition)).catch(
    (error: unknown) => {
      log.onRetry(error)
      return 'unknown' as const
    },
  )
  if (last === 'unknown') return undefined
  const header = last && readHeader(last.subject, last.headers)
  const isOurs =
    last !== undefined &&
    last.seq > lastSeq &&
    header?.worker === message.worker &&
    header.rawLast === message.rawLast
  if (isOurs) return last.seq
  throw new Fenced(
    `partition ${message.partition} has another worker now (${header?.worker ?? 'its log is gone'}): giving it up`,
  )
}

function headersOf(message: LogMessage) {
  const header = headers()
  header.set(logHeaders.worker, message.worker)
  header.set(logHeaders.rawLast, String(message.rawLast))
  header.set(logHeaders.rawLastTime, String(message.rawLastTimeMs))
  header.set(logHeaders.nLast, String(message.nLast))
  header.set(logHeaders.count, String(message.readings.length))
  header.set(logHeaders.lateTo, String(message.lateTo))
  return header
}
