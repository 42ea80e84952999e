/** Up to where a log goes: the last message of each partition, and what it says in its headers. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { readHeader } from '../../runtime/nats/log-messages.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import type { Manifest } from './manifest.ts'

export type Point = Manifest['until']
export type LogEnd = {
  readonly point: Point
  /** Of each partition, the last raw message that is judged. */
  readonly rawLast: readonly number[]
}

/** As it is now. @param time what is committed before it is in the log */
export async function logEnd(nc: NatsConnection, time = new Date().toISOString()): Promise<LogEnd> {
  const ends = await Promise.all(
    Array.from({ length: partitionCount }, async (_, partition) => {
      const last = await lastMessage(nc, readingsStream, readingsSubject(partition))
      return last && { seq: last.seq, ...readHeader(last.subject, last.headers) }
    }),
  )
  const partitions = ends.map((end) => end?.nLast ?? 0)
  const readings = partitions.reduce((sum, n) => sum + n, 0)
  const sequence = Math.max(0, ...ends.map((end) => end?.seq ?? 0))
  return {
    point: { time, sequence, readings, partitions },
    rawLast: ends.map((end) => end?.rawLast ?? 0),
  }
}

/** Of a stream as it is now. */
export async function lastSequence(nc: NatsConnection, stream: string): Promise<number> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  return (await manager.streams.info(stream)).state.last_seq
}

export const pointInWords = ({ time, readings }: Point): string =>
  `everything accepted up to ${time.slice(0, 19)}Z (${readings} readings)`
