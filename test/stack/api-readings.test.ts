import { expect, test } from 'vitest'
import { maskOf } from '../../core/air/quality.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { siteOf, type Told, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-YAB-001'] as const

type Page = {
  sensor_id?: string
  count: number
  next_cursor: string | null
  readings: { sensor_id: string; timestamp: string; aqi: number | null }[]
}

/** One reading per sensor every minute, newest first, as the API orders them. */
const minutes = (count: number): Told[] =>
  Array.from({ length: count }, (_, i) =>
    ids.map((sensor) => ({ sensor, timeMs: nowMs - i * minuteMs, pm25: 100 * (i % 40) })),
  ).flat()

const key = ({ sensor, timeMs }: Told): string => `${sensor} ${formatIsoMs(timeMs)}`
const keysOf = ({ readings }: Page): string[] =>
  readings.map(({ sensor_id, timestamp }) => `${sensor_id} ${timestamp}`)

async function pages(get: (path: string) => Promise<Response>, path: string): Promise<string[]> {
  const keys: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = (await (
      await get(cursor === '' ? path : `${path}&cursor=${cursor}`)
    ).json()) as Page
    keys.push(...keysOf(page))
    cursor = page.next_cursor
  }
  return keys
}

test('the latest readings of the network arrive newest first, page after page, none twice', async () => {
  await using api = await testApi()
  for (const id of ids) await api.register({ id })
  const committed = minutes(60)
  // oldest first, as sensors send; the last ten only after everything else: back-fill
  await api.commit(committed.slice(30).toReversed())
  await api.commit(committed.slice(0, 20).toReversed())
  await api.commit(committed.slice(20, 30))

  const first = (await (await api.get('/v1/readings')).json()) as Page
  expect(first.count).toBe(10)
  expect(first).not.toHaveProperty('sensor_id')
  expect(keysOf(first)).toEqual(committed.slice(0, 10).map(key))
  expect(await pages(api.get, '/v1/readings?limit=7')).toEqual(committed.map(key))

  const start = formatIsoMs(nowMs - 10 * minuteMs)
  const end = formatIsoMs(nowMs - 5 * minuteMs)
  const within = committed.filter(
    ({ timeMs }) => timeMs >= nowMs - 10 * minuteMs && timeMs < nowMs - 5 * minuteMs,
  )
  expect(await pages(api.get, `/v1/readings?limit=4&start_time=${start}&end_time=${end}`)).toEqual(
    within.map(key),
  )
  // without an offset it is UTC, and an unescaped plus is one
  const local = formatIsoMs(nowMs - 10 * minuteMs + hourMs).replace('Z', '+01:00')
  for (const from of [start.replace('Z', ''), local]) {
    const path = `/v1/readings?limit=100&start_time=${from}&end_time=${end}`
    expect(keysOf((await (await api.get(path)).json()) as Page)).toEqual(within.map(key))
  }
})

test('memory and the store give the same pages, across the seam and after a restart', async () => {
  let storing = true
  await using api = await testApi({ isStoring: () => storing })
  for (const id of ids) await api.register({ id })
  const old: Told[] = Array.from({ length: 5_400 }, (_, i) => ({
    sensor: ids[i % 2]!,
    timeMs: nowMs - hourMs - i * 1_000,
  }))
  for (let at = 0; at < old.length; at += 1_800) await api.commit(old.slice(at, at + 1_800))
  const committed = [...minutes(20), ...old]
  await api.commit(minutes(20).toReversed())
  await api.snapshot()
  const deep = '/v1/readings?limit=1000'
  expect(await pages(api.get, deep)).toEqual(committed.map(key))
  await api.stopApi()
  await api.startApi()
  expect(await pages(api.get, deep)).toEqual(committed.map(key))
  // oldest first, from the store up to where memory is complete, and from there on from memory
  const upwards = committed.toSorted(
    (a, b) => a.timeMs - b.timeMs || (a.sensor < b.sensor ? -1 : 1),
  )
  expect(await pages(api.get, `${deep}&order=asc`)).toEqual(upwards.map(key))
  const start = formatIsoMs(nowMs - 10 * minuteMs)
  expect(await pages(api.get, `/v1/readings?limit=7&order=asc&start_time=${start}`)).toEqual(
    upwards.filter(({ timeMs }) => timeMs >= nowMs - 10 * minuteMs).map(key),
  )
  const one = `/v1/readings?limit=900&order=asc&sensor_id=${ids[1]}`
  expect(await pages(api.get, one)).toEqual(
    upwards.filter(({ sensor }) => sensor === ids[1]).map(key),
  )
  // what the store does not have yet is the end of them, also of a page that begins in the store
  storing = false
  await api.commit([{ sensor: ids[2], timeMs: nowMs + 1_000 }])
  const last = key({ sensor: ids[2], timeMs: nowMs + 1_000 })
  expect(await pages(api.get, `${deep}&order=asc`)).toEqual([...upwards.map(key), last])
  const few = upwards.filter(({ sensor }) => sensor === ids[2]).map(key)
  expect(await pages(api.get, `${deep}&order=asc&sensor_id=${ids[2]}`)).toEqual([...few, last])
  expect((await pages(api.get, deep)).slice(0, 2)).toEqual([last, key(committed[0]!)])
})

test('a cursor goes on in its own order only, and an order that there is not is refused', async () => {
  await using api = await testApi()
  for (const id of ids) await api.register({ id })
  await api.commit(minutes(3).toReversed())
  const cursorOf = async (order: string): Promise<string> =>
    ((await (await api.get(`/v1/readings?limit=1${order}`)).json()) as Page).next_cursor ?? ''
  const [down, up] = [await cursorOf(''), await cursorOf('&order=asc')]
  const link = (await api.get('/v1/readings?limit=1&order=asc')).headers.get('link')
  expect(link).toBe(`</v1/readings?limit=1&order=asc&cursor=${up}>; rel="next"`)
  for (const [query, parameter] of [
    [`cursor=${up}`, 'cursor'],
    [`cursor=${up}&order=desc`, 'cursor'],
    [`cursor=${down}&order=asc`, 'cursor'],
    ['order=up', 'order'],
    ['order=', 'order'],
  ]) {
    const answer = await api.get(`/v1/readings?${query}`)
    expect([query, answer.status]).toEqual([query, 400])
    expect(await answer.json()).toMatchObject({ error: { details: { parameter } } })
  }
  expect((await api.get(`/v1/readings?cursor=${down}&order=desc`)).status).toBe(200)
})

test('rows that are not in the store yet are served from the log after a restart', async () => {
  let storing = true
  await using api = await testApi({ isStoring: () => storing })
  await api.register({ id: ids[0] })
  await api.commit([{ sensor: ids[0], timeMs: nowMs - minuteMs }])
  const stored = api.lastSeq()
  storing = false
  await api.commit([{ sensor: ids[0], timeMs: nowMs }])
  await api.snapshot({ store: stored })
  await api.stopApi()
  await api.startApi()
  expect(keysOf((await (await api.get('/v1/readings')).json()) as Page)).toEqual([
    key({ sensor: ids[0], timeMs: nowMs }),
    key({ sensor: ids[0], timeMs: nowMs - minuteMs }),
  ])
})

test('one sensor, two shapes and four formats', async () => {
  await using api = await testApi()
  for (const id of ids) await api.register({ id, sites: [siteOf('Ikeja', 6.61, 3.36)] })
  await api.commit(minutes(3).toReversed())
  await api.commit([
    { sensor: ids[0], timeMs: nowMs + 1_000, pm25: 4_530, pm10: 7_820, co2: null, flags: 0b101 },
    { sensor: ids[1], timeMs: nowMs + 1_000, pm25: null, pm10: null, aqi: null },
  ])
  const json = async (query: string): Promise<Page> =>
    (await api.get(`/v1/readings?${query}`)).json() as Promise<Page>

  const one = await json(`sensor_id=${ids[0]}&limit=1`)
  expect(one).toEqual({
    status: 'success',
    sensor_id: ids[0],
    count: 1,
    next_cursor: expect.any(String),
    readings: [
      {
        sensor_id: ids[0],
        timestamp: formatIsoMs(nowMs + 1_000),
        pm25: 45.3,
        pm10: 78.2,
        co2: null,
        temperature: 28.5,
        humidity: 70,
        measurements: { pm25: 45.3, pm10: 78.2, co2: null, temperature: 28.5, humidity: 70 },
        aqi: 125,
        aqi_category: 'unhealthy_sensitive',
        dominant_pollutant: 'pm25',
        beyond_index: false,
        quality: ['dropped_pm25', 'dropped_co2'],
        quality_level: 'fail',
        blockchain: {
          hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          verified: false,
          tx_hash: null,
          status: 'pending',
        },
        blockchain_tx: null,
      },
    ],
  })
  const [european] = (await json(`sensor_id=${ids[0]}&limit=1&index=eu`)).readings
  expect(european).toEqual({ ...one.readings[0], aqi: 3, aqi_category: 'moderate' })
  const [bare] = (await json(`sensor_id=${ids[1]}&limit=1`)).readings
  expect(bare).toMatchObject({
    aqi: null,
    aqi_category: null,
    dominant_pollutant: null,
    pm25: null,
  })
  const [flat] = (await json(`sensor_id=${ids[0]}&shape=flat`)).readings
  expect(Object.keys(flat ?? {}).toSorted()).toEqual(
    [
      'sensor_id',
      'timestamp',
      'pm25',
      'pm10',
      'co2',
      'temperature',
      'humidity',
      'aqi',
      'blockchain_tx',
    ].toSorted(),
  )
  const [nested] = (await json(`sensor_id=${ids[0]}&shape=nested`)).readings
  expect(Object.keys(nested ?? {}).toSorted()).toEqual(
    ['sensor_id', 'timestamp', 'measurements', 'aqi', 'aqi_category', 'blockchain'].toSorted(),
  )
  const since = formatIsoMs(nowMs)
  expect(keysOf(await json(`sensor_id=${ids[0]}&start_time=${since}`))).toHaveLength(2)
  expect(await pages(api.get, `/v1/readings?sensor_id=${ids[0]}&limit=1`)).toHaveLength(4)

  const csv = await api.get('/v1/readings?limit=2', { headers: { accept: 'text/csv' } })
  expect(csv.headers.get('content-type')).toBe('text/csv')
  expect(csv.headers.get('link')).toMatch(/^<\/v1\/readings\?limit=2&cursor=.+>; rel="next"$/)
  const [head, line, , end] = (await csv.text()).split('\r\n')
  expect(head?.split(',')).toHaveLength(16)
  expect(line?.endsWith(',fail')).toBe(true)
  expect(line).toMatch(
    new RegExp(`^${ids[0]},.+Z,45.3,78.2,,28.5,70,125,.+,dropped_pm25 dropped_co2,0x`),
  )
  expect(end).toBe('')
  const ndjson = await (await api.get('/v1/readings?limit=2&format=ndjson')).text()
  expect(
    ndjson
      .trimEnd()
      .split('\n')
      .map((text) => (JSON.parse(text) as { sensor_id: string }).sensor_id),
  ).toEqual([ids[0], ids[1]])
  const geo = await api.get('/v1/readings?limit=1', { headers: { accept: 'application/geo+json' } })
  expect(await geo.json()).toMatchObject({
    type: 'FeatureCollection',
    features: [{ geometry: { type: 'Point', coordinates: [3.36, 6.61] } }],
  })
  const unknown = await api.get('/v1/readings?sensor_id=NGR-LOS-IKJ-999')
  expect(unknown.status).toBe(404)
})

test('readings that are not good enough are left out, counted, and never end a walk', async () => {
  await using api = await testApi()
  for (const id of ids) await api.register({ id })
  // of three readings in a row one is good, one suspect, one failed; 1,300 failed ones are in between
  const flagsAt = (i: number): number => [0, maskOf('pm_high'), maskOf('pm_saturated')][i % 3] ?? 0
  const few = Array.from({ length: 12 }, (_, i) => ({ at: i * minuteMs, flags: flagsAt(i) }))
  const failed = Array.from({ length: 1_300 }, (_, i) => ({
    at: hourMs + i * 1_000,
    flags: maskOf('dropped_pm25'),
  }))
  const sent = [...few, ...failed, { at: 2 * hourMs, flags: 0 }].map(({ at, flags }) => ({
    sensor: ids[0],
    timeMs: nowMs - at,
    flags,
  }))
  await api.commit(sent.toReversed())
  const wanted = {
    good: sent.filter(({ flags }) => flags === 0),
    suspect: sent.filter(({ flags }) => [0, maskOf('pm_high')].includes(flags)),
    all: sent,
  }
  for (const [quality, expected] of Object.entries(wanted)) {
    for (const order of ['desc', 'asc']) {
      const inOrder = order === 'asc' ? expected.toReversed() : expected
      const path = `/v1/readings?limit=3&quality=${quality}&order=${order}`
      expect(await pages(api.get, path)).toEqual(inOrder.map(key))
    }
  }
  type Left = Page & { left_out?: number }
  const page = async (query: string): Promise<Left> =>
    (await (await api.get(`/v1/readings?${query}`)).json()) as Left
  expect(await page('limit=2&quality=good')).toMatchObject({ count: 2, left_out: 2 })
  expect(await page('limit=2')).not.toHaveProperty('left_out')
  // one request does not read on without end
  const short = await page(`limit=10&quality=good&sensor_id=${ids[0]}`)
  expect(short).toMatchObject({ count: 4, left_out: 996 })
  expect(short.next_cursor).not.toBeNull()
  const wrong = await api.get('/v1/readings?quality=bad')
  expect(await wrong.json()).toMatchObject({ error: { details: { parameter: 'quality' } } })
})

test('corrected values are beside the raw ones, with what they were made by', async () => {
  await using api = await testApi()
  await api.register({ id: ids[0] })
  await api.commit([{ sensor: ids[0], timeMs: nowMs, pm25: 10_000, humidity: 6_000 }])
  const models = 'epa_2021_ext,barkjohn_2021'
  const answer = await (await api.get(`/v1/readings?corrections=${models}`)).json()
  expect(answer).toMatchObject({
    corrections: [{ name: 'epa_2021_ext', version: 1 }, { name: 'barkjohn_2021' }],
    readings: [
      { pm25: 100, corrections: { epa_2021_ext: { pm25: 79.2 }, barkjohn_2021: { pm25: 53 } } },
    ],
  })
  const listed = (await (await api.get('/v1/corrections')).json()) as {
    corrections: { name: string; hash: string }[]
  }
  expect((answer as { corrections: object[] }).corrections).toEqual(
    listed.corrections.map(({ name, hash }) => ({ name, hash, version: 1 })),
  )
  const csv = await (await api.get(`/v1/readings?corrections=${models}&format=csv`)).text()
  const [head, line] = csv.split('\r\n')
  const used = (answer as { corrections: { name: string; version: number; hash: string }[] })
    .corrections
  const word = used.map(({ name, version, hash }) => `${name}/${version}/${hash}`).join(' ')
  expect(head?.endsWith(',pm25_epa_2021_ext,pm25_barkjohn_2021,corrections')).toBe(true)
  expect(line?.endsWith(`,79.2,53,${word}`)).toBe(true)
  const geojson = await api.get(`/v1/readings?corrections=${models}&format=geojson`)
  expect(await geojson.json()).toMatchObject({
    corrections: used,
    features: [{ properties: { corrections: { barkjohn_2021: { pm25: 53 } } } }],
  })
  const ndjson = await api.get(`/v1/readings?corrections=${models}&format=ndjson`)
  expect(JSON.parse(await ndjson.text())).toMatchObject({
    pm25: 100,
    corrections: { barkjohn_2021: { pm25: 53 } },
    correction_models: used,
  })
  const plain = (await (await api.get('/v1/readings')).json()) as Page
  expect(plain).not.toHaveProperty('corrections')
  expect(plain.readings[0]).not.toHaveProperty('corrections')
  const wrong = await api.get('/v1/readings?corrections=magic')
  expect([wrong.status, await wrong.json()]).toMatchObject([
    400,
    { error: { details: { parameter: 'corrections' } } },
  ])
})

test('without the store live answers still work and history is 503', async () => {
  await using api = await testApi({
    env: { INFLUX_URL: 'http://127.0.0.1:9', INFLUX_TOKEN: 'none' },
    isStarted: false,
  })
  await api.register({ id: ids[0] })
  await api.startApi('alive')
  await eventually('it is known', async () => {
    return (await api.get(`/v1/sensors/${ids[0]}/status`)).status === 200
  })
  expect((await api.get('/v1/sensors')).status).toBe(200)
  for (const path of ['/v1/readings', '/v1/areas/Ikeja']) {
    const answer = await api.get(path)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(await answer.json()).toMatchObject({ error: { code: 'history_unavailable' } })
  }
  const ready = await fetch(`${api.adminUrl}/ready`)
  expect(ready.status).toBe(503)
})
