import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../../core/state/log-message.ts'
import { commit, type Log } from '../../pipeline/log/commit.ts'
import { openPublisher, type Publisher } from '../../runtime/nats/publisher.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'

const empty = {
  worker: 'test',
  rawLast: 0,
  rawLastTimeMs: 0,
  lateTo: 0,
  listenedMs: 0,
  readings: [],
  events: [],
  held: [],
  deferred: [],
  refused: [],
  duplicates: [],
} satisfies Partial<LogMessage>

type Content = Partial<LogMessage> & Pick<LogMessage, 'partition' | 'nLast'>

const publishers = new WeakMap<NatsConnection, Publisher>()
function publisherOf(nc: NatsConnection): Publisher {
  const publisher = publishers.get(nc) ?? openPublisher(nc, 2_000)
  publishers.set(nc, publisher)
  return publisher
}

/**
 * Commits to the log as a worker does, without one; tries once.
 * @param lastSeq the partition's last message, if it is known
 * @returns the message's sequence
 */
export async function commitMessage(
  nc: NatsConnection,
  content: Content,
  lastSeq?: number,
): Promise<number> {
  const message: LogMessage = { ...empty, ...content }
  const subject = readingsSubject(message.partition)
  const former = lastSeq ?? (await lastMessage(nc, readingsStream, subject))?.seq ?? 0
  const log: Log = {
    nc,
    js: jetstream(nc),
    publisher: publisherOf(nc),
    pause: () => Promise.resolve(),
    stop: AbortSignal.abort(),
    level: { current: () => newestLevel },
    onRetry: () => undefined,
  }
  return await commit(log, message, former)
}
