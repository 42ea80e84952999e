/**
 * The commit: one publish to the log, accepted only if the partition's last message is the one it
 * builds on. A process that is no longer the partition's worker is stopped here, before it writes
 * anything else.
 */
import type { JetStreamClient } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../../core/state/log-message.ts'
import { TryAgain } from '../../runtime/exit.ts'
import { findAfter } from '../../runtime/nats/find-after.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import type { Header, Publisher } from '../../runtime/nats/publisher.ts'
import { fenceHeader, isWrongLastSequence } from '../../runtime/nats/stored-message.ts'
import { encodeReadings } from '../../schemas/log/readings-message.ts'
import { logHeaders, readingsStream, readingsSubject } from '../../schemas/subjects.ts'

/** Another worker has written to the partition: this one stops, and the leases decide. */
export class Fenced extends TryAgain {}

export type Log = {
  readonly nc: NatsConnection
  /** For what is written rarely. */
  readonly js: JetStreamClient
  readonly publisher: Publisher
  /** Which formats are written. */
  readonly level: LevelNow
  /** Resolves after `ms`, or at once when the process stops. */
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
  /** Called at each failed try, with the server's error. */
  readonly onRetry: (error: unknown) => void
}

const retryMs = 250

/**
 * Durable when resolved. Waits through outages of the server.
 * @param lastSeq sequence of the partition's last message of the log, 0 if there is none
 * @returns the sequence of the new message  @throws Fenced
 */
export async function commit(log: Log, message: LogMessage, lastSeq: number): Promise<number> {
  const subject = readingsSubject(message.partition)
  const body = encodeReadings(message, log.level.current())
  const header = headerOf(message, lastSeq)
  let expected = lastSeq
  for (;;) {
    try {
      return await log.publisher.publish(subject, body, { ...header, [fenceHeader]: expected })
    } catch (error) {
      if (isWrongLastSequence(error)) {
        const settled = await settle(log, message, expected)
        if ('own' in settled) return settled.own
        if (settled.expected > expected) {
          expected = settled.expected
          continue
        }
      } else log.onRetry(error)
      // After a time-out the message may be stored or not: the next try shows it.
      if (log.stop.aborted) throw new TryAgain('stopped before NATS took the commit')
      await log.pause(retryMs)
    }
  }
}

/** @returns the sequence of our own message, or that to publish against now  @throws Fenced */
async function settle(
  log: Log,
  { partition, worker, rawLast }: LogMessage,
  expected: number,
): Promise<{ readonly own: number } | { readonly expected: number }> {
  const place = { stream: readingsStream, subject: readingsSubject(partition), expected }
  const after = await findAfter(log.nc, place, logReader(log.nc)).catch((error: unknown) => {
    log.onRetry(error)
    return undefined
  })
  if (after === undefined) return { expected }
  if (after.kind === 'foreign') return { expected: after.end }
  const found = after.kind === 'found' ? after.value : undefined
  const isOurs = found?.worker === worker && found.rawLast === rawLast
  if (after.kind === 'found' && isOurs) return { own: after.seq }
  throw new Fenced(
    `partition ${partition} has another worker now (${found?.worker ?? 'its log is gone'}): giving it up`,
  )
}

const headerOf = (message: LogMessage, former: number): Header => ({
  [logHeaders.worker]: message.worker,
  [logHeaders.rawLast]: message.rawLast,
  [logHeaders.rawLastTime]: message.rawLastTimeMs,
  [logHeaders.nLast]: message.nLast,
  [logHeaders.count]: message.readings.length,
  [logHeaders.lateTo]: message.lateTo,
  [logHeaders.former]: former,
})
