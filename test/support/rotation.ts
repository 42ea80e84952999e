/** Sensors that send while secrets are rotated, and the proof that nothing was lost or doubled. */
import type { NatsConnection } from '@nats-io/transport-node'
import { connect } from '@nats-io/transport-node'
import { expect } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { newEntry } from '../../operate/sensor-registry.ts'
import { untilJudged } from './chaos/read-log.ts'
import { seeded } from './chaos/seeded.ts'
import { startSensors } from './chaos/sensors.ts'

/** The entry of one that may send as fast as a test does. */
export const fastSensor = (id: string) => ({
  ...newEntry({
    id,
    area: 'Ikeja',
    lat: 6.6,
    lon: 3.35,
    address: '',
    cadenceSeconds: 60,
    fromMs: 0,
    nowMs: Date.now(),
  }),
  flood: { per_second: 1_000, burst: 100_000 },
})

export type Load = AsyncDisposable & {
  readonly sent: () => number
  /** Ends the sending; then every reading is accepted once. @returns how many */
  readonly check: (operator: NatsConnection) => Promise<number>
}

/** A sensor, signed in with its credential, that sends a reading every 50 ms. */
export async function sendingSensor(
  url: string,
  id: string,
  credential: string,
  tls?: { readonly ca: string },
): Promise<Load> {
  const nc = await connect({
    servers: url,
    user: id,
    pass: credential,
    inboxPrefix: `_INBOX_${id}`,
    ignoreAuthErrorAbort: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    timeout: 15_000,
    ...(tls && { tls }),
  })
  const sensors = startSensors(nc, { ids: [id as SensorId], random: seeded(7), everyMs: 50 })
  return {
    sent: () => sensors.acknowledged.length,
    check: async (operator) => {
      await sensors.stop()
      const { accepted } = await untilJudged(operator)
      const times = accepted.filter(({ sensor }) => sensor === id).map(({ timeMs }) => timeMs)
      expect(new Set(times).size).toBe(times.length)
      expect(times.toSorted((a, b) => a - b)).toEqual(
        sensors.acknowledged.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b),
      )
      return times.length
    },
    [Symbol.asyncDispose]: async () => {
      // a failed test does not wait for what will never be acknowledged
      void sensors.stop()
      await nc.close()
    },
  }
}
