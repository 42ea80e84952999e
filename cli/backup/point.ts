/** Up to where a log goes: the last message of each partition, and what it says in its headers. */
import { jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { readHeader } from '../../runtime/nats/log-messages.ts'
import { readingsStream, readingsSubjects } from '../../schemas/subjects.ts'
import type { Manifest } from './manifest.ts'

export type Point = Manifest['until']
export type LogEnd = {
  readonly point: Point
  /** Of each partition, the last raw message that is judged. */
  readonly rawLast: readonly number[]
}

/** @param sequence later messages are not looked at @param timeMs the server's time at that sequence */
export async function logEnd(
  nc: NatsConnection,
  sequence: number,
  time = new Date().toISOString(),
): Promise<LogEnd> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const partitions = Array<number>(partitionCount).fill(0)
  const rawLast = Array<number>(partitionCount).fill(0)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const take = ({ subject, header }: StoredMsg): void => {
    const found = readHeader(subject, header)
    partitions[found.partition] = found.nLast
    rawLast[found.partition] = found.rawLast
  }
  if (sequence > 0) {
    await manager.direct.getLastMessagesFor(readingsStream, {
      multi_last: [...readingsSubjects],
      up_to_seq: sequence,
      // if it is iterated instead, the client never ends its subscription
      callback: (done, message) => {
        if (done === null) take(message)
        else if (done.err === undefined) resolve()
        else reject(done.err)
      },
    })
    await ended
  }
  const readings = partitions.reduce((sum, n) => sum + n, 0)
  return { point: { time, sequence, readings, partitions }, rawLast }
}

/** Of a stream as it is now. */
export async function lastSequence(nc: NatsConnection, stream: string): Promise<number> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  return (await manager.streams.info(stream)).state.last_seq
}

export const pointInWords = ({ time, readings }: Point): string =>
  `everything accepted up to ${time.slice(0, 19)}Z (${readings} readings)`
