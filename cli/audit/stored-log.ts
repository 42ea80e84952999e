import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../../core/state/log-message.ts'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { readingsStream } from '../../schemas/subjects.ts'

/** The messages of the log from a sequence on, to where it ended when it was asked. */
export async function* storedLog(
  nc: NatsConnection,
  fromSeq: number,
): AsyncGenerator<{ readonly seq: number; readonly message: LogMessage }> {
  const manager = await jetstreamManager(nc)
  const { last_seq: lastSeq, messages } = (await manager.streams.info(readingsStream)).state
  if (lastSeq < fromSeq || messages === 0) return
  await using follower = await followLog(nc, { fromSeq })
  for await (const { seq, message } of follower) {
    if (message !== undefined) yield { seq, message }
    if (seq >= lastSeq) return
  }
}
