import { setTimeout as pause } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { openRawPublisher } from '../../../cli/shell/raw-publisher.ts'
import type { SensorId } from '../../../core/air/sensor-id.ts'
import { secondMs } from '../../../core/time.ts'
import { bodyOf, measure } from './city.ts'

export type PourOptions = {
  readonly ids: readonly SensorId[]
  readonly readings: number
  readonly random: () => number
  /** Of the first round; every sensor sends once per round, rounds are `stepMs` apart. */
  readonly startMs: number
  readonly stepMs: number
  /** Readings per second; by default, as fast as the server accepts them. */
  readonly rate?: number
}

const sliceMs = 20

/** Publishes readings at a pace. Resolves when all are acknowledged. */
export async function pour(nc: NatsConnection, options: PourOptions): Promise<void> {
  const { ids, readings, random, startMs, stepMs, rate = Number.POSITIVE_INFINITY } = options
  await using publisher = openRawPublisher(nc, { window: 4_000 })
  const beganMs = performance.now()
  for (let i = 0; i < readings; i++) {
    const sensor = ids[i % ids.length]
    if (sensor === undefined) throw new RangeError('a city without sensors')
    const timeMs = startMs + Math.floor(i / ids.length) * stepMs
    await publisher.publish(sensor, bodyOf(sensor, timeMs, measure(random)))
    const aheadMs = (i / rate) * secondMs - (performance.now() - beganMs)
    if (aheadMs > sliceMs) await pause(aheadMs)
  }
  await publisher.drain()
}
