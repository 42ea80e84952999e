// Uses the packed package `airproof-client`, and prints what it received, as JSON.
import { createHash } from 'node:crypto'
import { ApiError, airproof, readNetwork, verifyBundle } from 'airproof-client'

const [, , url = '', key = '', sensor = '', proven = '', start = '', end = ''] = process.argv
const air = airproof({ url, key })
const names = ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] as const
const results: Record<string, unknown> = {}

const lines: string[] = []
for await (const reading of air.readings({
  sensor_id: sensor,
  start_time: start,
  end_time: end,
  order: 'asc',
})) {
  const values = names.map((name) => {
    const value = reading[name]
    return value === null ? '' : Math.round(value * 100)
  })
  lines.push([Date.parse(reading.timestamp), ...values].join(','))
}
results['year'] = [lines.length, createHash('sha256').update(lines.join('\n')).digest('hex')]

const sensors = await air.sensors({ include: 'latest' }).toArray()
results['sensors'] = sensors.map(({ id }) => id)
const area = await air.api.GET('/v1/areas/{area_name}', {
  params: { path: { area_name: 'Ikeja' } },
})
results['area'] = area.data?.area.name
try {
  await air.readings({ sensor_id: 'NGR-LOS-IKJ-999' }).toArray()
} catch (error) {
  if (error instanceof ApiError) results['refused'] = [error.status, error.code]
}
const proof = await air.verify(sensor, proven)
results['verified'] = [proof.ok, proof.reading?.sensor_id, proof.demonstration]
const other = readNetwork(
  JSON.stringify({ ...(await (await fetch(`${url}/v1/network`)).json()), name: 'another' }),
)
const bundle = await air.api.GET('/v1/readings/{sensor_id}/proof', {
  params: { path: { sensor_id: sensor }, query: { timestamp: proven } },
})
results['pinned'] = (await verifyBundle(bundle.data, { network: other, chainId: 1 })).ok

const changed: number[] = []
let kept = 'start'
for await (const page of air.changes(kept)) {
  changed.push(page.readings.length)
  kept = page.next_cursor
}
for await (const page of air.changes(kept)) changed.push(page.readings.length)
results['changes'] = changed

const seen: unknown[] = []
console.error('next')
for await (const event of air.stream({ sensor_id: sensor })) {
  if (event.event !== 'reading') continue
  seen.push([event.event, event.data.pm25])
  if (seen.length === 2) break
  console.error('next')
}
results['stream'] = seen
console.log(JSON.stringify(results))
