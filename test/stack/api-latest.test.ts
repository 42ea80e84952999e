/** GET /v1/sensors?include=latest: every sensor with its latest reading, in one call. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatIsoMs } from '../../core/iso-time.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const nowMs = Math.floor(Date.now() / secondMs) * secondMs
const timeMs = nowMs - minuteMs
const [near, middle, far, silent] = [
  'NGR-LOS-IKJ-003',
  'NGR-LOS-IKJ-002',
  'NGR-LOS-IKJ-001',
  'NGR-LOS-YAB-004',
] as const
const retired = 'NGR-LOS-YAB-009'
const address = '1 Ẹ̀kọ́ Road, "Palm" Court'

let api: TestApi
beforeAll(async () => {
  api = await testApi()
  await api.register({ id: near, sites: [siteOf('Ikeja', 6.6, 3.35)] })
  await api.register({ id: middle, sites: [{ ...siteOf('Ikeja', 6.601, 3.35), address }] })
  await api.register({ id: far, sites: [siteOf('Ikeja', 6.62, 3.35)] })
  await api.register({ id: silent, sites: [siteOf('Yaba', 6.5, 3.38)] })
  await api.register({ id: retired, retired_at: '2026-01-02T00:00:00Z' })
  await eventually('all are listed', async () => (await latest()).total === 4)
  await api.commit([
    { sensor: near, timeMs, pm25: 4_530, pm10: 7_820, co2: null, flags: 0b101, arrivedMs: timeMs },
    { sensor: middle, timeMs, arrivedMs: nowMs },
    { sensor: far, timeMs, arrivedMs: nowMs + 1 },
  ])
})
afterAll(() => api[Symbol.asyncDispose]())

type Item = { id: string; silence_seconds: number; distance_m?: number } & Record<string, unknown>
type Page = { count: number; total: number; next_cursor: string | null; sensors: Item[] }

const ask = (query: string, init?: RequestInit): Promise<Response> =>
  api.get(`/v1/sensors?include=latest${query}`, init)
async function latest(query = ''): Promise<Page> {
  const answer = await ask(query)
  expect([query, answer.status]).toEqual([query, 200])
  return (await answer.json()) as Page
}
const idsOf = async (query: string): Promise<string[]> =>
  (await latest(query)).sensors.map(({ id }) => id)

test('every sensor is there with its latest reading, one that sent none with nulls', async () => {
  const { count, total, next_cursor: next, sensors } = await latest()
  expect([count, total, next]).toEqual([4, 4, null])
  expect(sensors.map(({ id }) => id)).toEqual([far, middle, near, silent])
  expect(sensors[2]).toEqual({
    id: near,
    area: 'Ikeja',
    location: { lat: 6.6, lon: 3.35, address: '1 Ikeja Road' },
    status: 'online',
    last_reading: formatIsoMs(timeMs),
    uptime_24h: expect.any(Number),
    aqi: 125,
    aqi_category: 'unhealthy_sensitive',
    dominant_pollutant: 'pm25',
    beyond_index: false,
    quality: ['dropped_pm25', 'dropped_co2'],
    quality_level: 'fail',
    pm25: 45.3,
    pm10: 78.2,
    co2: null,
    temperature: 28.5,
    humidity: 70,
    modified_at: expect.any(String),
    silence_seconds: expect.any(Number),
  })
  expect(sensors[3]).toMatchObject({
    last_reading: null,
    aqi: null,
    aqi_category: null,
    dominant_pollutant: null,
    beyond_index: false,
    quality: [],
    quality_level: null,
    pm25: null,
    silence_seconds: null,
  })
  const [european] = (await latest(`&index=eu&ids=${near}`)).sensors
  expect(european).toMatchObject({ aqi: 3, aqi_category: 'moderate' })
})

test('a sensor whose latest reading is not good enough, or that has none, is left out', async () => {
  expect(await idsOf('&quality=all')).toEqual([far, middle, near, silent])
  expect(await idsOf('&quality=suspect')).toEqual([far, middle])
  expect(await idsOf('&quality=good')).toEqual([far, middle])
})

test('without include=latest the answer is as it ever was, whatever Accept names beside JSON', async () => {
  const plain = await api.get('/v1/sensors?limit=1')
  const text = await plain.text()
  const { sensors } = JSON.parse(text) as Page
  expect(Object.keys(sensors[0] ?? {})).toEqual([
    'id',
    'area',
    'location',
    'status',
    'last_reading',
    'uptime_24h',
    'aqi',
  ])
  const headers = { accept: 'text/csv, application/json;q=0.5' }
  expect(await (await api.get('/v1/sensors?limit=1', { headers })).text()).toBe(text)
  const csv = await api.get('/v1/sensors', { headers: { accept: 'text/csv' } })
  expect(csv.status).toBe(406)
})

test('a silence grows, though nothing arrives', async () => {
  const silence = async (): Promise<number> =>
    (await latest(`&ids=${near}`)).sensors[0]?.silence_seconds ?? 0
  const first = await silence()
  expect(first).toBeGreaterThanOrEqual(minuteMs / secondMs)
  await eventually('it has grown', async () => (await silence()) > first)
})

test('CSV has a column for each field, three for a location, and quotes what people wrote', async () => {
  const answer = await ask('&format=csv')
  expect(answer.headers.get('content-type')).toBe('text/csv')
  expect(answer.headers.get('vary')).toContain('Accept')
  const [head, , second, third, fourth, end] = (await answer.text()).split('\r\n')
  expect(head).toBe(
    'id,area,lat,lon,address,status,last_reading,uptime_24h,aqi,aqi_category,dominant_pollutant,beyond_index,quality,quality_level,pm25,pm10,co2,temperature,humidity,modified_at,silence_seconds',
  )
  expect(second).toContain(`,6.601,3.35,"1 Ẹ̀kọ́ Road, ""Palm"" Court",online,`)
  expect(third).toContain(
    ',125,unhealthy_sensitive,pm25,false,dropped_pm25 dropped_co2,fail,45.3,78.2,,28.5,70,',
  )
  expect(fourth).toMatch(/,offline,,0,,,,false,,,,,,,.+Z,$/)
  expect(end).toBe('')
  const page = await ask('&limit=1', { headers: { accept: 'text/csv' } })
  expect(page.headers.get('link')).toMatch(
    /^<\/v1\/sensors\?include=latest&limit=1&cursor=.+>; rel="next"$/,
  )
  const picked = await (await ask(`&format=csv&fields=pm25,location,no2,id&ids=${near}`)).text()
  expect(picked).toBe(`pm25,lat,lon,address,no2,id\r\n45.3,6.6,3.35,1 Ikeja Road,,${near}\r\n`)
})

test('GeoJSON has a point for each sensor, NDJSON a line', async () => {
  const headers = { accept: 'application/geo+json' }
  const { type, features } = (await (await ask('', { headers })).json()) as {
    type: string
    features: { geometry: object; properties: Item }[]
  }
  expect([type, features.length]).toEqual(['FeatureCollection', 4])
  expect(features[1]).toMatchObject({
    geometry: { type: 'Point', coordinates: [3.35, 6.601] },
    properties: { id: middle, location: { address }, pm25: 10 },
  })
  const lines = (await (await ask('&format=ndjson&fields=id')).text()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as Item)).toEqual(
    [far, middle, near, silent].map((id) => ({ id })),
  )
})

test('corrections add values, and every format names their models', async () => {
  const { corrections, sensors } = (await latest(
    `&corrections=epa_2021_ext&ids=${near},${silent}`,
  )) as Page & { corrections: { name: string; version: number; hash: string }[] }
  const [model] = corrections
  expect(corrections).toEqual([
    { name: 'epa_2021_ext', version: 1, hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
  ])
  const [value, none] = sensors.map((sensor) => sensor['corrections'])
  // 45.3 µg/m³ at 70 %: between 30 and 50 the slope rises from 0.524 to 0.786
  const k = 45.3 / 20 - 1.5
  const exact = (0.786 * k + 0.524 * (1 - k)) * 45.3 - 0.0862 * 70 + 5.75
  expect(value).toEqual({ epa_2021_ext: { pm25: Math.round(exact * 10) / 10 } })
  expect(none).toEqual({ epa_2021_ext: { pm25: null } })
  const query = `&corrections=epa_2021_ext&ids=${near}&fields=id`
  expect((await latest(query)).sensors).toEqual([{ id: near, corrections: value }])
  const pm25 = Math.round(exact * 10) / 10
  expect(await (await ask(`${query}&format=csv`)).text()).toBe(
    `id,pm25_epa_2021_ext,corrections\r\n${near},${pm25},epa_2021_ext/1/${model?.hash}\r\n`,
  )
  expect(await (await ask(`${query}&format=ndjson`)).json()).toEqual({
    id: near,
    corrections: value,
    correction_models: corrections,
  })
  expect(await (await ask(`${query}&format=geojson`)).json()).toMatchObject({
    corrections,
    features: [{ properties: { id: near, corrections: value } }],
  })
})

test('fields may name the indices of now and of a day, which are not listed otherwise', async () => {
  const { sensors } = await latest(`&fields=id,aqi_nowcast,aqi_24h&ids=${far}`)
  const asked = await api.get(`/v1/sensors/${far}/status`)
  const status = (await asked.json()) as Item
  expect(sensors).toEqual([{ id: far, aqi_nowcast: status.aqi_nowcast, aqi_24h: status.aqi_24h }])
  expect((await latest()).sensors[0]).not.toHaveProperty('aqi_nowcast')
})

test('fields picks them in their order, also one that no sensor measured', async () => {
  const { sensors } = await latest('&fields=pm25,id,no2&limit=1')
  expect(JSON.stringify(sensors)).toBe(`[{"pm25":10,"id":"${far}","no2":null}]`)
})

test('filters leave out the others, and ids may be short', async () => {
  expect(await idsOf(`&ids=${near}, ${silent}`)).toEqual([near, silent])
  expect(await idsOf(`&ids=NGR-LOS-004,${silent}`)).toEqual([silent])
  expect(await idsOf(`&ids=${near},${silent}&area=Yaba`)).toEqual([silent])
  expect(await idsOf('&status=online&bbox=3.3,6.6,3.4,6.61')).toEqual([middle, near])
})

test('near sorts by distance and tells it, with a radius or without, page after page', async () => {
  const place = '&near=6.6,3.35'
  const { sensors } = await latest(`${place}&limit=1000`)
  expect(sensors.map(({ id, distance_m: m }) => [id, m])).toEqual([
    [near, 0],
    [middle, 111],
    [far, 2224],
    [silent, 11_603],
  ])
  expect(await idsOf(`${place}&radius=2000`)).toEqual([near, middle])
  const paged: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Page = await latest(`${place}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
    expect([page.count, page.total]).toEqual([1, 4])
    paged.push(...page.sensors.map(({ id }) => id))
    cursor = page.next_cursor
  }
  expect(paged).toEqual([near, middle, far, silent])
  expect((await latest(`${place}&fields=id,distance_m&limit=1`)).sensors).toEqual([
    { id: near, distance_m: 0 },
  ])
})

test('modified_since leaves out those whose reading arrived before, and whose entry is older', async () => {
  // their entries are from the start of this test, so later readings tell them apart
  const later = Date.now() + 10 * minuteMs
  const since = (ms: number): Promise<string[]> => idsOf(`&modified_since=${formatIsoMs(ms)}`)
  expect(await since(later)).toEqual([])
  await api.commit([
    { sensor: near, timeMs: timeMs + 1_000, arrivedMs: later },
    { sensor: far, timeMs: timeMs + 1_000, arrivedMs: later + 1 },
    // an older reading changes nothing of the latest one
    { sensor: silent, timeMs, arrivedMs: later - 1 },
  ])
  expect(await since(later)).toEqual([far, near])
  expect(await since(later + 1)).toEqual([far])
  const [item] = (await latest(`&ids=${far}`)).sensors
  expect(item?.['modified_at']).toBe(formatIsoMs(later + 1))
  const beforeMs = Date.now()
  expect(await since(beforeMs)).not.toContain(middle)
  await api.register({ id: middle, cadence_seconds: 60, sites: [siteOf('Ikeja', 6.601, 3.35)] })
  await eventually('its entry counts', async () => (await since(beforeMs)).includes(middle))
})

describe('refused, with what would be right:', () => {
  test.each([
    ['include=newest', 'include', 'one of latest'],
    ['fields=id', 'include', 'latest, without which there is no fields'],
    [`ids=${near}`, 'include', 'no ids'],
    ['modified_since=2026-01-01', 'include', 'no modified_since'],
    ['format=csv', 'include', 'no format'],
    ['include=latest&fields=id,pm3', 'fields', 'id,area,location'],
    ['include=latest&fields=id,id', 'fields', 'each once'],
    ['include=latest&fields=', 'fields', 'not an empty text'],
    ['include=latest&fields=distance_m', 'fields', 'some of id'],
    ['include=latest&ids=', 'ids', 'not an empty text'],
    [`include=latest&ids=${retired}`, 'ids', 'retired'],
    ['include=latest&modified_since=yesterday', 'modified_since', 'ISO 8601'],
    ['include=latest&format=xml', 'format', 'one of json, csv'],
    ['include=latest&limit=1001', 'limit', '1 to 1000'],
    ['include=latest&radius=100', 'near', 'lat,lon'],
    ['include=latest&near=3.35,6.6', 'near', 'swapped'],
    ['include=latest&near=6.6,3.35&radius=0', 'radius', 'metres above 0'],
    ['near=6.6,3.35', 'radius', 'metres above 0'],
  ])('%s', async (query, parameter, words) => {
    const answer = await api.get(`/v1/sensors?${query}`)
    const { error } = (await answer.json()) as {
      error: { code: string; message: string; details: { parameter: string } }
    }
    expect([answer.status, error.code, error.details.parameter]).toEqual([
      400,
      'bad_parameter',
      parameter,
    ])
    expect(error.message).toContain(words)
  })

  test('more than 200 ids', async () => {
    const many = Array.from({ length: 201 }, (_, i) => `NGR-LOS-${100 + i}`).join(',')
    const answer = await ask(`&ids=${many}`)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('at most 200 ids')
  })

  test('an id that does not exist, and one that is not an id', async () => {
    for (const id of ['NGR-LOS-IKJ-999', 'sensor-1', `${near},,${far}`]) {
      const answer = await ask(`&ids=${id}`)
      expect([id, answer.status]).toEqual([id, 404])
      expect(await answer.json()).toMatchObject({ error: { code: 'sensor_not_found' } })
    }
  })

  test('a cursor of the other order, and one that was changed', async () => {
    const byId = (await latest('&limit=1')).next_cursor
    const byDistance = (await latest('&limit=1&near=6.6,3.35')).next_cursor
    const wrong = [
      `&cursor=${byDistance}`,
      `&near=6.6,3.35&cursor=${byId}`,
      `&near=6.6,3.35&cursor=${Buffer.from(`d:x:${near}`).toString('base64url')}`,
      `&near=6.6,3.35&cursor=${Buffer.from('d:1:x').toString('base64url')}`,
    ]
    for (const query of wrong) {
      const answer = await ask(query)
      expect([query, answer.status]).toEqual([query, 400])
      expect(await answer.json()).toMatchObject({ error: { details: { parameter: 'cursor' } } })
    }
  })

  test('an unknown parameter, and a media type that there is not', async () => {
    expect((await ask('&since=1')).status).toBe(400)
    const answer = await ask('', { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(406)
  })
})
