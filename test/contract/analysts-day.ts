import { wholeNetwork } from '../../core/air/area.ts'
import { flags } from '../../core/air/quality.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import type { Store } from '../../store/store.ts'
import { listing, reading, sensorId } from './store-rows.ts'

export const noon = Date.UTC(2026, 2, 1, 12)
export const span = { from: noon - 12 * hourMs, to: noon + 12 * hourMs }

/** What the examples speak of: a day of Ikeja, with one odd reading. */
export async function fill(store: Store): Promise<void> {
  const rows = [0, 1, 2].map((hour) =>
    reading({ sensor: sensorId(17), timeMs: noon + hour * hourMs, seq: 1 + hour }),
  )
  const [first = reading(), ...others] = rows
  const signed = {
    ...first,
    leafVersion: 2 as const,
    device: `0x${'ab'.repeat(32)}` as const,
    signed: {
      algorithm: 'ed25519' as const,
      publicKey: Buffer.alloc(32, 1).toString('base64'),
      signature: Buffer.alloc(64, 2).toString('base64'),
      text: 'airproof.device.v1\nNGR-LOS-IKJ-017\n1772366400000\npm25=45.30',
    },
  }
  await store.writeBatch([signed, ...others])
  await store.writeBatch([reading({ timeMs: noon + 1, flags: 1 << flags.pm_high })])
  await store.writeBatch([reading({ timeMs: noon + 2, flags: 1 << flags.pm_stuck })])
  for (const area of ['Ikeja', wholeNetwork]) {
    await store.writeAreaHours(await store.computeBuckets(area, span.from, span.to, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, span.from, span.to, 'day'))
  }
  const day = Array.from({ length: 280 }, (_, at) =>
    reading({ sensor: sensorId(17), timeMs: span.from - dayMs + at * 5 * minuteMs, seq: 9 + at }),
  )
  await store.writeBatch(day)
  const from = span.from - dayMs
  await store.writeSensorHours(await store.computeSensors([sensorId(17)], from, span.to, 'hour'))
  await store.writeSensorDays(await store.computeSensors([sensorId(17)], from, span.to, 'day'))
  await store.writeListings([listing(17, 'a')], [])
}
