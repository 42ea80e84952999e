import { expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { minuteMs } from '../../core/time.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { siteOf, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-YAB-001', 'NGR-LOS-YAB-003'] as const

type Listed = {
  status: string
  count: number
  total: number
  next_cursor: string | null
  sensors: { id: string; status: string; last_reading: string | null; uptime_24h: number }[]
}

test('sensors are listed by id with their state from the log', async () => {
  await using api = await testApi()
  for (const id of ids) {
    const area = id.includes('IKJ') ? 'Ikeja' : 'Yaba'
    await api.register({ id, sites: [siteOf(area, area === 'Yaba' ? 6.5 : 6.6)] })
  }
  const list = async (query = ''): Promise<Listed> =>
    (await api.get(`/v1/sensors${query}`)).json() as Promise<Listed>
  await eventually('all are listed', async () => (await list()).total === ids.length)

  expect(await list('?limit=1')).toEqual({
    status: 'success',
    count: 1,
    total: 4,
    next_cursor: expect.any(String),
    sensors: [
      {
        id: ids[0],
        area: 'Ikeja',
        location: { lat: 6.6, lon: 3.35, address: '1 Ikeja Road' },
        status: 'offline',
        last_reading: null,
        uptime_24h: 0,
        aqi: null,
      },
    ],
  })
  await api.commit([{ sensor: ids[0], timeMs: nowMs }])
  expect((await list()).sensors[0]).toMatchObject({
    status: 'online',
    last_reading: formatIsoMs(nowMs),
    aqi: expect.any(Number),
  })
  const offline = {
    kind: 'offline' as const,
    sensor: ids[0] as SensorId,
    lastReadingMs: nowMs,
    offlineSinceMs: nowMs + minuteMs,
    silenceMs: 16 * minuteMs,
  }
  await api.commit([], { events: [offline] })
  expect((await list()).sensors[0]).toMatchObject({ status: 'offline' })

  const idsOf = async (query: string): Promise<string[]> =>
    (await list(query)).sensors.map(({ id }) => id)
  await api.commit([{ sensor: ids[2], timeMs: nowMs, area: 'Yaba' }])
  expect(await idsOf('?status=online')).toEqual([ids[2]])
  expect(await idsOf('?status=offline&area=yaba')).toEqual([ids[3]])
  expect(await idsOf('?area=IKJ')).toEqual([ids[0], ids[1]])
  expect(await idsOf('?area=Lagos')).toEqual(ids)
  expect(await idsOf('?bbox=3.3,6.55,3.4,6.7')).toEqual([ids[0], ids[1]])
  expect(await idsOf('?near=6.5,3.35&radius=1000')).toEqual([ids[2], ids[3]])

  const paged: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await list(`?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
    paged.push(...page.sensors.map(({ id }) => id))
    cursor = page.next_cursor
  }
  expect(paged).toEqual(ids)

  await api.unregister(ids[3])
  await eventually('it is not listed', async () => (await list()).total === 3)
})

test('a sensor shows its device, its owner and where it was, and no address that is not public', async () => {
  await using api = await testApi()
  const show = (id: string): Promise<Response> => api.get(`/v1/sensors/${id}`)
  const about = { make: 'AirGradient', model: 'O-1PST', indoor: false, height_m: 2.5 }
  const sites = [
    siteOf('Yaba', 6.5, 3.38, '2025-01-01T01:00:00+01:00'),
    siteOf('Ikeja', 6.6, 3.35, '2026-01-01T00:00:00Z'),
    siteOf('Lekki', 6.4, 3.5, '2199-01-01T00:00:00Z'),
  ]
  await api.register({ id: ids[0], sites, ...about, licence: 'CC-BY-4.0', owner: 'Ẹgbẹ́ Afẹ́fẹ́' })
  await api.register({ id: ids[3], retired_at: '2026-01-02T00:00:00Z' })
  await eventually('both are known', async () => (await show(ids[3])).status === 200)
  expect(await (await show(ids[0])).json()).toEqual({
    status: 'success',
    sensor: {
      id: ids[0],
      area: 'Ikeja',
      location: { lat: 6.6, lon: 3.35, address: '1 Ikeja Road' },
      status: 'offline',
      last_reading: null,
      uptime_24h: 0,
      aqi: null,
      retired: false,
      retired_at: null,
      commissioned_at: '2025-01-01T00:00:00.000Z',
      expected_interval_seconds: 300,
      ...about,
      licence: 'CC-BY-4.0',
      owner: 'Ẹgbẹ́ Afẹ́fẹ́',
      sites: [
        {
          from: '2025-01-01T00:00:00.000Z',
          until: '2026-01-01T00:00:00.000Z',
          area: 'Yaba',
          lat: 6.5,
          lon: 3.38,
        },
        { from: '2026-01-01T00:00:00.000Z', until: null, area: 'Ikeja', lat: 6.6, lon: 3.35 },
      ],
    },
  })
  const retired = (await (await show('NGR-LOS-003')).json()) as { sensor: object }
  expect(retired.sensor).toMatchObject({
    id: ids[3],
    retired: true,
    retired_at: '2026-01-02T00:00:00.000Z',
    make: null,
    indoor: null,
    owner: null,
  })
  for (const [path, status] of [
    [ids[1], 404],
    ['sensor-1', 404],
    [`${ids[0]}?index=mars`, 400],
    [`${ids[0]}?fields=id`, 400],
  ] as const)
    expect([path, (await show(path)).status]).toEqual([path, status])
})

test('a sensor status shows all that is known of the sensor', async () => {
  await using api = await testApi()
  await api.register({ id: ids[0], cadence_seconds: 60 })
  await api.register({ id: ids[2] })
  await api.register({ id: ids[3] })
  const status = (id: string): Promise<Response> => api.get(`/v1/sensors/${id}/status`)
  await eventually('it is known', async () => (await status(ids[3])).status === 200)
  expect(await (await status(ids[0])).json()).toMatchObject({
    sensor_status: 'offline',
    last_reading: null,
    silence_seconds: null,
    offline_since: null,
    latest: null,
    aqi_nowcast: null,
    expected_interval_seconds: 60,
  })
  await api.commit([{ sensor: ids[0], timeMs: nowMs, pm25: 4_530, pm10: 7_820, humidity: 5_000 }])
  const answer = (await (await status(ids[0])).json()) as { silence_seconds: number }
  expect(answer).toMatchObject({
    status: 'success',
    sensor_id: ids[0],
    sensor_status: 'online',
    last_reading: formatIsoMs(nowMs),
    latest: {
      aqi: 125,
      aqi_category: 'unhealthy_sensitive',
      blockchain: { hash: expect.stringMatching(/^0x[0-9a-f]{64}$/), verified: false },
    },
    location: { lat: 6.6, lon: 3.35 },
    // 0.524·45.3 up to 30, 0.786 from 50: between them, less 0.0862·50, plus 5.75
    pm25_corrected: { value: 34.3, unit: 'µg/m³', method: 'epa_2021_ext' },
  })
  expect(answer.silence_seconds).toBeGreaterThanOrEqual(0)

  // short forms: 003 is one sensor's number, 001 that of two
  expect(await (await status('NGR-LOS-003')).json()).toMatchObject({ sensor_id: ids[3] })
  const ambiguous = await status('NGR-LOS-001')
  expect(ambiguous.status).toBe(404)
  expect(await ambiguous.json()).toMatchObject({
    error: { code: 'sensor_ambiguous', details: { candidates: [ids[0], ids[2]] } },
  })
  const malformed = await status('sensor-1')
  expect(malformed.status).toBe(404)
  expect(await malformed.json()).toMatchObject({
    status: 'error',
    error: {
      code: 'sensor_not_found',
      details: { expected_format: 'NGR-LOS-{AREA}-{NUMBER}' },
    },
  })
})

test('the latest reading has the hash of its own leaf, from memory, and from the store when it is old', async () => {
  await using api = await testApi()
  const keccak = await createKeccak()
  const [late, other] = [ids[0], ids[2]]
  for (const id of [late, other]) await api.register({ id, sites: [siteOf('Ikeja', 6.6)] })
  const [reading] = await api.commit([
    { sensor: late, timeMs: nowMs - 60 * minuteMs, leafVersion: 2 },
  ])
  const hash = toHex(leafOf(reading!, keccak))
  const shown = async () => {
    const answer = await api.get(`/v1/sensors/${late}/status`)
    const { latest } = (await answer.json()) as { latest?: { blockchain: { hash: string } } }
    return latest?.blockchain.hash
  }
  expect(await eventually('it is known', shown)).toBe(hash)
  // more than memory holds, all of them newer
  for (let part = 0; part < 3; part++)
    await api.commit(
      Array.from({ length: 1_800 }, (_, i) => ({
        sensor: other,
        timeMs: nowMs - 50 * minuteMs + (part * 1_800 + i) * 100,
      })),
    )
  await api.snapshot()
  await api.stopApi()
  await api.startApi()
  expect(await eventually('it is known again', shown)).toBe(hash)
})
