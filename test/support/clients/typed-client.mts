// Compiled with the types that openapi-typescript has made, by the TypeScript that it is made for;
// a field or an answer that the document lacks does not compile.
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

declare const process: { readonly argv: readonly string[] }

const [, , baseUrl = '', key = '', sensor = '', timestamp = ''] = process.argv
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })

function needed<T>(value: T | undefined, failure?: unknown): T {
  if (value === undefined) throw new Error(JSON.stringify(failure))
  return value
}

const sensors = await client.GET('/v1/sensors', { params: { query: { area: 'Ikeja', limit: 1 } } })
const [first] = (needed(sensors.data, sensors.error) as components['schemas']['SensorsPage'])
  .sensors
const query = { sensor_id: sensor, limit: 1 } as const
const full = await client.GET('/v1/readings', { params: { query } })
const flat = await client.GET('/v1/readings', { params: { query: { ...query, shape: 'flat' } } })
const nested = await client.GET('/v1/readings', {
  params: { query: { ...query, shape: 'nested' } },
})
const ofFlat = needed(flat.data) as components['schemas']['FlatReadingsPage']
const ofNested = needed(nested.data) as components['schemas']['NestedReadingsPage']
const ofFull = needed(full.data) as components['schemas']['ReadingsPage']
const area = await client.GET('/v1/areas/{area_name}', {
  params: { path: { area_name: 'Ikeja' }, query: { interval: 'hour' } },
})
const verified = await client.GET('/v1/readings/{sensor_id}/verify', {
  params: { path: { sensor_id: sensor }, query: { timestamp } },
})
const made = await client.POST('/v1/webhooks', {
  params: { header: { 'Idempotency-Key': 'typed' } },
  body: { url: 'http://127.0.0.1:9/hook', events: ['aqi.high'], filters: { aqi_threshold: 120 } },
})
const webhook = needed(made.data, made.error).webhook
const gone = await client.DELETE('/v1/webhooks/{webhook_id}', {
  params: { path: { webhook_id: webhook.id } },
})
const failed = await client.GET('/v1/areas/{area_name}', {
  params: { path: { area_name: 'Nowhere' } },
})
const failure = failed.error

console.log(
  JSON.stringify({
    sensor: first?.location.lat,
    full: [ofFull.readings[0]?.pm25, ofFull.readings[0]?.measurements.pm25],
    flat: ofFlat.readings[0]?.pm25,
    nested: ofNested.readings[0]?.measurements.pm25,
    series: needed(area.data).series?.[0]?.readings,
    verified: needed(verified.data).status,
    made: [
      webhook.armed_now,
      made.response.headers.get('location') === `/v1/webhooks/${webhook.id}`,
    ],
    gone: needed(gone.data).webhook.deleted,
    failed: failure !== undefined && 'error' in failure ? failure.error.code : '',
  }),
)
