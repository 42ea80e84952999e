import type { NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../../core/state/log-message.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { logReader } from './log-messages.ts'
import { nextMessage } from './stored-message.ts'

/** Foreign messages and those without a reading that are passed over: idle partitions write hourly. */
const mostEmpty = 64

/** The first message of the log after a sequence that has readings, and when it was stored. */
export async function firstReadings(
  nc: NatsConnection,
  subject: string,
  afterSeq: number,
): Promise<{ readonly message: LogMessage; readonly timeMs: number } | undefined> {
  const read = logReader(nc)
  let seq = afterSeq
  for (let looked = 0; looked < mostEmpty; looked++) {
    const stored = await nextMessage(nc, readingsStream, subject, seq + 1)
    if (stored === undefined) return undefined
    const message = await read(stored)
    if (message !== undefined && message.readings.length > 0)
      return { message, timeMs: stored.timeMs }
    seq = stored.seq
  }
  return undefined
}
