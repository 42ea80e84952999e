import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { offline, online, publishEvent, rise } from '../support/notifier.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'

const sensor = 'NGR-LOS-YAB-001'
const other = 'NGR-LOS-IKJ-002'

const startedMs = Date.now()
let dashboard: TestDashboard
let ada: SignedIn
beforeAll(async () => {
  dashboard = await testDashboard()
  ada = await signedIn(dashboard, { tier: 'premium' })
  for (const event of [
    rise(100, 180, sensor),
    rise(100, 320, other),
    rise(151, 160, other),
    offline(sensor),
    online(sensor),
    offline(other),
  ])
    await publishEvent(dashboard.nc, event)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const ask = async (body: object) => (await ada.ask('POST', '/data/back-test', body)).body

test('events of the last 30 days are counted by the rules of delivery', async () => {
  const all = await ask({ events: ['aqi.high', 'aqi.critical', 'sensor.offline'], filters: {} })
  expect(all).toMatchObject({
    counts: { 'aqi.high': 2, 'aqi.critical': 1, 'sensor.offline': 2 },
    total: 5,
    looked: 6,
    left_out: [],
  })
  // it names the time since when there are events, and no day before
  const sinceMs = Date.parse(all.since)
  expect(sinceMs).toBeGreaterThanOrEqual(startedMs - 1_000)
  expect(all.days.length).toBeLessThanOrEqual(2)
  expect(all.days.at(-1).count).toBe(5)
  const one = await ask({ events: ['aqi.high', 'sensor.online'], filters: { sensor_id: sensor } })
  expect(one).toMatchObject({ counts: { 'aqi.high': 1, 'sensor.online': 1 }, looked: 3 })
  const nowhere = await ask({ events: ['sensor.offline'], filters: { area: 'Atlantis' } })
  expect(nowhere.total).toBe(0)
})

test('what the number leaves out is said', async () => {
  const own = await ask({ events: ['aqi.high'], filters: { aqi_threshold: 155 } })
  // one rise began above it, and others are in the log only where a threshold in use was crossed
  expect(own).toMatchObject({ counts: { 'aqi.high': 3 }, left_out: ['threshold'] })
  const many = await ask({ events: ['reading.new', 'sensor.offline'], filters: {} })
  expect(many).toMatchObject({ counts: { 'sensor.offline': 2 }, left_out: ['readings'] })
})

test('what is not a webhook’s is refused at its field, and a stranger is not answered', async () => {
  const wrong = await ada.ask('POST', '/data/back-test', {
    events: ['sensor.gone'],
    filters: { aqi_threshold: 900 },
    colour: 1,
  })
  expect(wrong.status).toBe(400)
  expect(wrong.body.error.details.fields.map(({ field }: { field: string }) => field)).toEqual(
    expect.arrayContaining(['events', 'filters.aqi_threshold', 'colour']),
  )
  const stranger = await fetch(`${dashboard.url}/data/back-test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: '{}',
  })
  expect([401, 403]).toContain(stranger.status)
})
