import type { NatsConnection } from '@nats-io/transport-node'
import { seqOf } from '../../../core/air/reading.ts'
import { partitionCount, type SensorId } from '../../../core/air/sensor-id.ts'
import type { ArrivedReading } from '../../../core/state/log-message.ts'
import { commitMessage } from '../commit-message.ts'
import { valued } from '../readings.ts'

type Content = {
  readonly partition?: number
  readonly readings?: number
  /** Broker time of the readings. */
  readonly arrivedMs?: number
  /** Format level 3. */
  readonly leafVersion?: 2
  /** What the readings are instead. */
  readonly change?: (reading: ArrivedReading) => ArrivedReading
}

/** Writes READINGS as a pipeline would, without one: the numbers continue from message to message. */
export function logWriter(nc: NatsConnection, worker = 'test') {
  const lastN = new Map<number, number>()
  const lastSeq = new Map<number, number>()
  const written: ArrivedReading[] = []
  return {
    /** All readings so far, in the order of the log. */
    written,
    /** @returns the message's sequence */
    write: async ({
      partition = 0,
      readings: count = 1,
      arrivedMs = Date.now(),
      change = (reading) => reading,
      ...version
    }: Content = {}) => {
      const former = lastN.get(partition) ?? 0
      const readings = Array.from({ length: count }, (_, at): ArrivedReading => {
        const n = former + at + 1
        const reading = valued({
          sensor: `NGR-LOS-TST-${String(1 + (n % 500)).padStart(3, '0')}` as SensorId,
          area: 'Test',
          timeMs: arrivedMs - 1_000 + at,
          arrivedMs,
          pm25: n % 50_000,
          pm10: n % 3 === 0 ? null : 2 * (n % 20_000),
          temperature: -(n % 4_000),
          humidity: 5_000,
          aqi: n % 500,
          flags: 0,
          seq: seqOf(partition, n),
          ...version,
        })
        return change(reading)
      })
      lastN.set(partition, former + count)
      written.push(...readings)
      const content = { partition, worker, nLast: former + count, readings, ...version }
      const seq = await commitMessage(nc, content, lastSeq.get(partition))
      lastSeq.set(partition, seq)
      return seq
    },
    /** The border of leaf 1 and leaf 2. @returns the sequence of the last mark */
    mark: async (): Promise<number> => {
      let seq = 0
      for (let partition = 0; partition < partitionCount; partition++) {
        const nLast = lastN.get(partition) ?? 0
        const content = { partition, worker, nLast, leafVersion: 2, isMark: true } as const
        seq = await commitMessage(nc, content, lastSeq.get(partition))
        lastSeq.set(partition, seq)
      }
      return seq
    },
  }
}
