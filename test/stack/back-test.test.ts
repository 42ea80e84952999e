/** What a back-test counts is what the worker decided: random lives of sensors, in a real store. */

import { sample } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SensorTable } from '../../api/live/sensor-table.ts'
import { createBackTest } from '../../api/webhooks/back-test.ts'
import { slugOf } from '../../core/air/area.ts'
import { qualityOf } from '../../core/air/quality-level.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { isFresh } from '../../core/state/presence.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { nothingExpired } from '../../schemas/retention.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { offline, online, publishEvent, rise } from '../support/notifier.ts'
import { histories, lived } from '../support/random-history.ts'
import { registeredView } from '../support/registered-view.ts'
import { sensorNamed } from '../support/small-worker.ts'

const areas = ['Ikeja', 'Lekki Phase 1', 'Ọ̀ṣọ́di']
type Rise = { readonly reading: Reading; readonly from: number; readonly to: number }

type Lives = { readonly rows: readonly Reading[]; readonly rises: readonly Rise[] }

/** @param number its six sensors have numbers of their own */
function oneLife(log: readonly LogMessage[], number: number): Lives {
  const endMs = Math.max(...log.flatMap(({ readings }) => readings.map((one) => one.arrivedMs)))
  // as if it had ended a minute ago
  const shiftMs = startMs - minuteMs - endMs
  const rows: Reading[] = []
  const rises: Rise[] = []
  for (const { readings, events } of log) {
    const own = readings.map(({ arrivedMs, ...reading }): Reading => {
      const isBackfill = !isFresh(reading.timeMs, arrivedMs)
      const timeMs = reading.timeMs + shiftMs
      const sensor = sensorNamed(number * 10 + Number(reading.sensor.slice(-3)))
      return { ...reading, sensor, timeMs, leafVersion: 2, ...(isBackfill && { isBackfill }) }
    })
    rows.push(...own)
    for (const event of events) {
      const reading = event.kind === 'rise' ? own[event.place] : undefined
      if (event.kind === 'rise' && reading !== undefined)
        rises.push({ reading, from: event.from, to: event.to })
    }
  }
  return { rows, rises }
}

const startMs = Date.now()
const isRecent = ({ timeMs }: Reading): boolean => timeMs >= startMs - 30 * dayMs
/** Of random lives those with the most readings in the last 30 days. */
function lives(): Lives {
  const recent = ({ rows }: Lives): number => rows.filter(isRecent).length
  const all = sample(histories, { numRuns: 300, seed: 7 })
    .map((history) => lived(history).log)
    .filter((log) => log.some(({ readings }) => readings.length > 0))
    .toSorted((a, b) => recent(oneLife(b, 0)) - recent(oneLife(a, 0)))
    .slice(0, 8)
    .map(oneLife)
  return { rows: all.flatMap(({ rows }) => rows), rises: all.flatMap(({ rises }) => rises) }
}

const { rows, rises } = lives()
const countRises = (threshold: number, is: (reading: Reading) => boolean = () => true): number =>
  rises.filter(
    ({ reading, from, to }) =>
      from <= threshold && threshold < to && isRecent(reading) && is(reading),
  ).length

let api: TestApi
beforeAll(async () => {
  api = await testApi()
  for (const id of new Set(rows.map(({ sensor }) => sensor)))
    await api.register({
      id,
      sites: areas.map((area, at) => siteOf(area, 6.6, 3.35, `20${10 + at}-01-01T00:00:00Z`)),
    })
  await api.store.writeBatch(rows)
  const [yaba, ikeja] = [sensorNamed(1), sensorNamed(2)]
  for (const event of [rise(100, 180, yaba), offline(yaba), online(yaba), offline(ikeja)])
    await publishEvent(api.nc, event)
})
afterAll(() => api[Symbol.asyncDispose]())

const post = async (body: object, init: RequestInit = {}) => {
  const answer = await api.get('/v1/webhooks/back-test', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...init,
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- any response
  return { status: answer.status, body: (await answer.json()) as any }
}
const ask = async (events: readonly string[], filters: object = {}) => {
  const { status, body } = await post({ events, filters })
  expect(body).toMatchObject({ status: 'success', left_out: [], unsure: 0 })
  expect(status).toBe(200)
  return body
}

test('the lives are worth it', () => {
  expect(rows.filter(isRecent).length).toBeGreaterThan(150)
  expect(rows.some(({ isBackfill }) => isBackfill)).toBe(true)
  expect(countRises(150)).toBeGreaterThan(10)
})

test.each([0, 20, 50, 137, 150, 222.5, 300, 450, 499])(
  'at a threshold of %d it counts the rises that the worker decided',
  async (threshold) => {
    const whole = Math.floor(threshold)
    const filters = { aqi_threshold: threshold }
    const all = await ask(['aqi.high', 'aqi.critical'], filters)
    expect(all.counts).toEqual({ 'aqi.high': countRises(whole), 'aqi.critical': countRises(300) })
    expect(all.looked).toEqual({ readings: expect.any(Number) as number, events: 0 })
    // it names the first day of the network, and none before
    const firstMs = Math.max(startMs - 30 * dayMs, Math.min(...rows.map(({ timeMs }) => timeMs)))
    expect(Date.parse(all.since)).toBeGreaterThanOrEqual(firstMs - 1_000)
    expect(all.days.length).toBeLessThanOrEqual(Math.ceil((startMs - firstMs) / dayMs) + 1)
    // a sensor, and an area, that a sensor may have left
    const one = await ask(['aqi.high'], { ...filters, sensor_id: sensorNamed(13) })
    expect(one.total).toBe(countRises(whole, ({ sensor }) => sensor === sensorNamed(13)))
    const there = await ask(['aqi.high'], { ...filters, area: 'Lekki Phase 1' })
    const isThere = ({ area }: Reading): boolean => slugOf(area) === slugOf('Lekki Phase 1')
    expect(there.total).toBe(countRises(whole, isThere))
  },
)

test('every kind is counted, as it is delivered', async () => {
  const fresh = rows.filter((row) => isRecent(row) && row.isBackfill !== true)
  const all = await ask(['reading.new', 'sensor.offline', 'sensor.online', 'aqi.critical'])
  expect(all.counts).toEqual({
    'reading.new': fresh.length,
    'sensor.offline': 2,
    'sensor.online': 1,
    'aqi.critical': countRises(300),
  })
  const one = await ask(['sensor.offline'], { sensor_id: sensorNamed(1) })
  expect([one.total, one.looked]).toEqual([1, { readings: 0, events: 3 }])
})

const direct = (most: number, isFinal: (seq: number) => boolean = () => false) =>
  createBackTest({
    nc: api.nc,
    board: { table: () => new SensorTable(registeredView().rows, Date.now) },
    queryStore: (_, work) => work(api.store, new AbortController().signal),
    retention: () => nothingExpired,
    isFinal,
    nowMs: Date.now,
    most,
  })
const asker = {
  isVisitor: false,
  share: () => 'account-1',
  gone: () => new AbortController().signal,
}

test('a network without an event yet has none, since its beginning', async () => {
  await using young = await testApi()
  const body = JSON.stringify({ events: ['sensor.online', 'aqi.high'], filters: {} })
  const answer = await young.get('/v1/webhooks/back-test', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { total, since, days } = (await answer.json()) as {
    readonly total: number
    readonly since: string
    readonly days: readonly unknown[]
  }
  expect([answer.status, total]).toEqual([200, 0])
  expect(Date.parse(since)).toBeGreaterThanOrEqual(startMs - 1_000)
  expect(days.length).toBeLessThanOrEqual(2)
})

test('readings must be good enough, and final where that is asked for', async () => {
  const isGood = ({ flags }: Reading): boolean => qualityOf(flags) === 'good'
  const filters = { min_quality: 'good' as const, aqi_threshold: 100 }
  const good = await direct(100_000)({ events: ['aqi.high'], filters }, asker)
  expect(good).toMatchObject({ counts: { 'aqi.high': countRises(100, isGood) } })
  const half = rows.toSorted((a, b) => a.seq - b.seq)[rows.length >> 1]!.seq
  const anchored = rows.filter((row) => row.seq <= half && row.isBackfill !== true && isRecent(row))
  const seen = await direct(100_000, (seq) => seq <= half)(
    { events: ['reading.anchored'], filters: {} },
    asker,
  )
  expect(seen).toMatchObject({ counts: { 'reading.anchored': anchored.length } })
})

test.each([20, 60, 120])(
  'of more than %i readings the newest are counted, and the answer says since when',
  async (most) => {
    const filters = { aqi_threshold: 60 }
    const result = await direct(most)({ events: ['aqi.high', 'reading.new'], filters }, asker)
    expect(result).toMatchObject({ left_out: ['older'], unsure: 0, looked: { readings: most } })
    const { since, counts } = result as { since: string; counts: Record<string, number> }
    const sinceMs = rows.map(({ timeMs }) => timeMs).toSorted((a, b) => b - a)[most - 1]!
    expect(Date.parse(since)).toBe(sinceMs + 1)
    expect(counts['aqi.high']).toBe(countRises(60, ({ timeMs }) => timeMs > sinceMs))
    expect(counts['reading.new']).toBe(
      rows.filter(({ timeMs, isBackfill }) => timeMs > sinceMs && isBackfill !== true).length,
    )
  },
)

test('what is not a webhook’s is refused at its field, and a stranger is not answered', async () => {
  const wrong = await post({
    events: ['sensor.gone'],
    filters: { aqi_threshold: 900 },
    colour: 1,
  })
  expect(wrong.status).toBe(400)
  const names = wrong.body.error.details.fields.map(({ field }: { field: string }) => field)
  expect(names.toSorted()).toEqual(['colour', 'events', 'filters.aqi_threshold'])
  expect((await post({ events: ['aqi.high'], filters: { area: 'Atlantis' } })).status).toBe(400)
  expect((await post([])).status).toBe(400)
  const stranger = { headers: { 'content-type': 'application/json', authorization: 'Bearer x' } }
  expect((await post({}, stranger)).status).toBe(401)
})
