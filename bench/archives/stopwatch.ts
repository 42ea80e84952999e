/**
 * How long the pipeline took, by the broker's own clock: from the first of the readings stored in
 * RAW to the message of the log with the last verdict. The start of the command and its first pass
 * over the files are not in it.
 */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { rawStream, readingsStream } from '../../schemas/subjects.ts'

export type Stopwatch = {
  /** @returns ms, when all is judged */
  readonly stop: () => Promise<number>
}

const partitions = 16

export async function startStopwatch(nc: NatsConnection): Promise<Stopwatch> {
  const manager = await jetstreamManager(nc)
  const before = await rawEnds(manager)
  return {
    stop: async () => {
      const firsts = await Promise.all(
        before.map(async (seq, partition) => {
          const message = await manager.streams.getMessage(rawStream(partition), { seq: seq + 1 })
          return message?.time.getTime() ?? Number.POSITIVE_INFINITY
        }),
      )
      const { state } = await manager.streams.info(readingsStream)
      return Date.parse(state.last_ts) - Math.min(...firsts)
    },
  }
}

const rawEnds = (manager: JetStreamManager): Promise<number[]> =>
  Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      const { state } = await manager.streams.info(rawStream(partition))
      return state.last_seq
    }),
  )
