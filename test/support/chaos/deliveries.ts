/** Webhooks of some sensors, and what they must have received whatever was killed. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { usAqiOf } from '../../../core/air/index/us-epa.ts'
import type { SensorId } from '../../../core/air/sensor-id.ts'
import { cross, someInside } from '../../../core/state/crossing.ts'
import { eventually } from '../eventually.ts'
import type { Received, Receiver } from '../receiver.ts'
import type { SentReading } from './sensors.ts'

/** The sensors that have a webhook, by the event that it is for. */
type Watched = Readonly<Record<'reading.new' | 'aqi.high', readonly SensorId[]>>
type Customer = { readonly api: string; readonly key: string }

/** The index above which the webhooks of the second kind are sent. */
const threshold = 150

/** Makes the webhooks. */
export async function watchBy(
  customer: Customer,
  { url }: Receiver,
  watched: Watched,
): Promise<void> {
  for (const sensor of watched['reading.new'])
    await createWebhook(customer, url, 'reading.new', { sensor_id: sensor })
  for (const sensor of watched['aqi.high']) {
    const filters = { sensor_id: sensor, aqi_threshold: threshold }
    await createWebhook(customer, url, 'aqi.high', filters)
  }
}

async function createWebhook(
  { api, key }: Customer,
  url: string,
  event: string,
  filters: object,
): Promise<void> {
  const response = await fetch(`${api}/v1/webhooks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ url, events: [event], filters }),
  })
  if (response.status !== 201) throw new Error(await response.text())
  await response.body?.cancel()
}

/** Waits for every delivery; there are no others, and a repeat has the id and body of the first. */
export async function untilDelivered(
  { received }: Receiver,
  watched: Watched,
  sent: readonly SentReading[],
): Promise<{ readonly deliveries: number; readonly repeats: number }> {
  const expected = [
    ...sent
      .filter(({ sensor }) => watched['reading.new'].includes(sensor))
      .map((reading) => deliveryOf('reading.new', reading)),
    ...watched['aqi.high'].flatMap((id) =>
      rises(sent.filter(({ sensor }) => sensor === id)).map((one) => deliveryOf('aqi.high', one)),
    ),
  ].toSorted()
  const arrived = () => new Set(received.map(({ id }) => id)).size
  await eventually(`${expected.length} deliveries arrive`, () => arrived() >= expected.length, {
    // one that failed twice, on a machine that had no time for it, waits five minutes
    withinMs: 900_000,
  }).catch((cause: unknown) => {
    const there = new Set(received.map(textOf))
    const missing = expected.filter((one) => !there.has(one))
    throw new Error(`${missing.length} are missing: ${missing.slice(0, 9).join(', ')}`, { cause })
  })
  const bodies = Map.groupBy(received, ({ id }) => id)
  expect(bodies.size).toBe(expected.length)
  const delivered: string[] = []
  for (const same of bodies.values()) {
    const digests = new Set(same.map(({ body }) => createHash('sha256').update(body).digest('hex')))
    expect(digests.size).toBe(1)
    const [first] = same
    if (first === undefined) continue
    delivered.push(textOf(first))
  }
  expect(delivered.toSorted()).toEqual(expected)
  return { deliveries: expected.length, repeats: received.length - expected.length }
}

const textOf = ({ json: { event, timestamp, data } }: Received): string =>
  `${event} ${String(data['sensor_id'])} ${Date.parse(timestamp)}`

const deliveryOf = (event: string, { sensor, timeMs }: SentReading): string =>
  `${event} ${sensor} ${timeMs}`

/** Those of one sensor's readings, in order, whose index rose above the threshold. */
function rises(readings: readonly SentReading[]): readonly SentReading[] {
  let firedBelow = 0
  let previous: number | null = null
  return readings.filter(({ values }) => {
    const aqi = usAqiOf(values.pm25 ?? null, values.pm10 ?? null)
    if (aqi === null) return false
    const crossed = cross(firedBelow, previous, aqi)
    firedBelow = crossed.firedBelow
    previous = aqi
    return someInside([threshold], crossed.from, crossed.to)
  })
}
