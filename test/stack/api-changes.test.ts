/** GET /v1/changes on the API process with real servers; the test decides what the log holds. */
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { decodeLogCursor, encodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import type { TestApi } from '../support/api.ts'
import { type EventStream, listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { apiOfTwo, ikeja, yaba } from '../support/two-sensors.ts'

let api: TestApi
/** Every reading of a run has its own time, all of them fresh. */
let timeMs = 0
beforeAll(async () => {
  const begun = await apiOfTwo()
  api = begun.api
  timeMs = begun.startMs
})
afterAll(() => api[Symbol.asyncDispose]())

type Gap = { readonly from: string | null; readonly to: string | null; readonly archive: null }
type Row = { readonly sensor_id: string; readonly timestamp: string }
type Page = {
  readonly count: number
  readonly next_cursor: string
  readonly more: boolean
  readonly gap: Gap | null
  readonly readings: readonly Row[]
}

const ask = (query: string, init?: RequestInit) => api.get(`/v1/changes${query}`, init)
async function page(query = ''): Promise<Page> {
  const answer = await ask(query)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Page
}
const now = async (): Promise<string> => (await page()).next_cursor
const later = (): number => (timeMs += 1_000)
const commit = (...sensors: string[]) =>
  api.commit(sensors.map((sensor) => ({ sensor, timeMs: later(), area: areaOf(sensor) })))
const areaOf = (sensor: string): string => (sensor === ikeja ? 'Ikeja' : 'Yaba')
const timesOf = (rows: readonly { readonly timestamp?: unknown }[]) =>
  rows.map(({ timestamp }) => timestamp)
const isoOf = (readings: readonly { readonly timeMs: number }[]): string[] =>
  readings.map((one) => formatIsoMs(one.timeMs))
/** Follows next_cursor until the log has no more. */
async function all(after: string, more = ''): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor = after; ; ) {
    const next = await page(`?after=${cursor}${more}`)
    expect(next.gap).toBeNull()
    rows.push(...next.readings)
    cursor = next.next_cursor
    if (!next.more) return rows
  }
}
const changed = (text: string, change: (cursor: LogCursor) => LogCursor): string => {
  const cursor = decodeLogCursor(text)
  if (cursor === undefined) throw new Error('it is not a cursor')
  return encodeLogCursor(change(cursor))
}

test('without a cursor it begins now, and then has every reading once, in the order of acceptance', async () => {
  await commit(ikeja)
  const first = await page()
  expect(first).toMatchObject({ count: 0, more: false, gap: null, readings: [] })
  const fresh = await commit(ikeja)
  // measured an hour before, accepted after it
  const late = await api.commit([{ sensor: ikeja, timeMs: timeMs - 3_600_000, arrivedMs: timeMs }])
  const last = await commit(yaba)
  const second = await page(`?after=${first.next_cursor}`)
  expect(timesOf(second.readings)).toEqual(isoOf([...fresh, ...late, ...last]))
  expect(second).toMatchObject({ count: 3, more: false, gap: null })
  const item = await api.get(`/v1/readings?sensor_id=${yaba}&limit=1`)
  expect(second.readings[2]).toEqual(((await item.json()) as Page).readings[0])
  expect(await page(`?after=${second.next_cursor}`)).toMatchObject({ count: 0, more: false })
})

test('pages continue in the middle of a message, whatever their size', async () => {
  const from = await now()
  const readings = [
    ...(await commit(ikeja, ikeja, ikeja, ikeja, ikeja)),
    ...(await commit(yaba)),
    ...(await commit(ikeja, ikeja)),
  ]
  for (const limit of [1, 2, 3, 7, 8, 9, 5_000])
    expect(timesOf(await all(from, `&limit=${limit}`))).toEqual(isoOf(readings))
})

test('CSV, NDJSON and GeoJSON are as of /v1/readings, with the cursor in Link', async () => {
  const from = await now()
  const readings = await commit(ikeja, ikeja, ikeja)
  const next = (answer: Response): string =>
    /<\/v1\/changes\?(?:.*&)?after=([\w-]+)>; rel="next"/.exec(
      answer.headers.get('link') ?? '',
    )?.[1] ?? ''
  for (const format of ['csv', 'ndjson', 'geojson']) {
    const changes = await ask(`?after=${from}&limit=2&format=${format}`)
    expect(changes.headers.get('airproof-more')).toBe('true')
    expect(changes.headers.get('airproof-gap')).toBeNull()
    const query = `start_time=${isoOf(readings)[0]}&end_time=${isoOf(readings)[2]}&order=asc`
    const page = await api.get(`/v1/readings?${query}&sensor_id=${ikeja}&format=${format}`)
    expect(await changes.text()).toBe(await page.text())
    const rest = await ask(`?after=${next(changes)}&format=${format}`)
    expect(rest.headers.get('airproof-more')).toBe('false')
    expect(await rest.text()).toContain(isoOf(readings)[2])
    expect(next(rest)).not.toBe('')
  }
})

test('what was accepted since is empty until something is, and 304 for a client that has that', async () => {
  const from = await now()
  const empty = await ask(`?after=${from}`)
  expect(((await empty.json()) as Page).next_cursor).toBe(from)
  const tag = empty.headers.get('etag') ?? ''
  // decisions without a reading move the log, and not the page
  await api.commit([], {
    events: [
      {
        kind: 'offline',
        sensor: ikeja as SensorId,
        lastReadingMs: timeMs,
        offlineSinceMs: timeMs,
        silenceMs: 1,
      },
    ],
  })
  const ifChanged = { headers: { 'if-none-match': tag } }
  expect((await ask(`?after=${from}`, ifChanged)).status).toBe(304)
  await commit(yaba)
  expect((await ask(`?after=${from}`, ifChanged)).status).toBe(200)
})

test('of one sensor, or of an area, other readings are passed over', async () => {
  const from = await now()
  await commit(ikeja, yaba)
  await commit(yaba)
  const ofYaba = async (query: string) => (await all(from, query)).map(({ sensor_id }) => sensor_id)
  expect(await ofYaba(`&sensor_id=${yaba}`)).toEqual([yaba, yaba])
  expect(await ofYaba('&area=yaba&limit=1')).toEqual([yaba, yaba])
  expect(await ofYaba('&area=Lagos')).toHaveLength(3)
  expect(await ofYaba(`&area=Ikeja&sensor_id=${yaba}`)).toEqual([])
})

describe('a client that stops anywhere goes on anywhere', () => {
  test('from changes to the stream and back, in the middle of messages', async () => {
    const headers = { authorization: `Bearer ${api.key}` }
    let cursor = await now()
    const received: unknown[] = []
    const committed: string[] = []
    for (let round = 0; round < 12; round++) {
      committed.push(...isoOf(await commit(ikeja, yaba, ikeja, ikeja, yaba)))
      if (round % 2 === 0) {
        const some = await page(`?after=${cursor}&limit=${1 + (round % 5)}`)
        received.push(...timesOf(some.readings))
        cursor = some.next_cursor
        continue
      }
      using stream = await listenTo(`${api.url}/v1/stream?last_event_id=${cursor}`, headers)
      const enough = 1 + (round % 4)
      const events = await eventually(
        'some events',
        () => stream.events.length >= enough && stream.events,
      )
      const some = events.slice(0, enough)
      received.push(...some.map(({ data }) => data.timestamp))
      cursor = some.at(-1)?.id ?? cursor
    }
    received.push(...timesOf(await all(cursor)))
    expect(received).toHaveLength(committed.length)
    expect(new Set(received)).toEqual(new Set(committed))
  })

  test('events of sensors are sent once to a client that was elsewhere in between', async () => {
    const headers = { authorization: `Bearer ${api.key}` }
    const offline = (sensor: string) => ({
      kind: 'offline' as const,
      sensor: sensor as SensorId,
      lastReadingMs: timeMs,
      offlineSinceMs: timeMs,
      silenceMs: 1,
    })
    const from = await now()
    await api.commit([{ sensor: ikeja, timeMs: later() }], {
      events: [offline(ikeja), offline(yaba)],
    })
    const listen = (id: string) => listenTo(`${api.url}/v1/stream?last_event_id=${id}`, headers)
    using whole = await listen(from)
    const events = await eventually('all', () => whole.events.length >= 3 && [...whole.events])
    expect(events.map(({ event }) => event)).toEqual([
      'reading',
      'sensor.offline',
      'sensor.offline',
    ])
    using rests = new DisposableStack()
    const streams: EventStream[] = []
    for (const { id } of events) {
      // nothing is new, so the place stays the same, down to the event
      const asked = await page(`?after=${id}`)
      expect(asked).toMatchObject({ count: 0, next_cursor: id })
      streams.push(rests.use(await listen(asked.next_cursor)))
    }
    await commit(yaba)
    for (const [place, { events: seen }] of streams.entries()) {
      await eventually('the next', () => seen.length >= 3 - place)
      expect(seen.slice(0, 2 - place)).toEqual(events.slice(place + 1))
      expect(seen[2 - place]?.data.sensor_id).toBe(yaba)
    }
  })
})

describe('a cursor is refused', () => {
  test.each([
    ['malformed', () => 'yesterday'],
    ['malformed', () => ''],
    ['malformed', () => '4711-2'],
    ['malformed', (text: string) => text.slice(0, -1)],
    ['malformed', (text: string) => `${text}A`],
    [
      'malformed',
      (text: string) => `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`,
    ],
    [
      'other_network',
      (text: string) => changed(text, (one) => ({ ...one, network: '0123456789ab' })),
    ],
    ['future', (text: string) => changed(text, (one) => ({ ...one, position: one.position + 1 }))],
    ['future', (text: string) => changed(text, (one) => ({ ...one, n: one.n.map((n) => n + 1) }))],
  ] as const)('that is %s', async (reason, change) => {
    const answer = await ask(`?after=${change(await now())}`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      error: { code: 'bad_cursor', details: { parameter: 'after', reason } },
    })
  })

  test.each([
    '?limit=0',
    '?limit=5001',
    '?area=',
    '?sensor_id=',
    '?shape=flat&format=csv',
    '?cursor=a',
    '?fields=pm25',
  ])('and so is %s', async (query) => {
    expect((await ask(query)).status).toBe(400)
  })
})

test.each([
  ['another network', (one: LogCursor) => ({ ...one, network: '0123456789ab' })],
  ['the future', (one: LogCursor) => ({ ...one, position: one.position + 100 })],
  ['numbers of the future', (one: LogCursor) => ({ ...one, n: one.n.map((n) => n + 100) })],
] as const)('a stream takes the cursor of %s for one of another log', async (_, change) => {
  const headers = { authorization: `Bearer ${api.key}` }
  const other = changed(await now(), change)
  using stream = await listenTo(`${api.url}/v1/stream`, { ...headers, 'last-event-id': other })
  const [gap] = await eventually('a gap', () => stream.events.length > 0 && stream.events)
  expect(gap).toMatchObject({ event: 'gap', data: { after: other, oldest: null } })
  await commit(ikeja)
  await eventually('what is new', () => stream.events.length === 2)
})

test('a stream refuses a cursor that was mangled, and never skips readings by it', async () => {
  const cursor = await now()
  for (const mangled of [cursor.slice(0, -1), `${cursor}A`, cursor.toLowerCase(), `x${cursor}`]) {
    const headers = { 'last-event-id': mangled }
    const answer = await api.get('/v1/stream', { headers })
    expect([mangled, answer.status]).toEqual([mangled, 400])
    await answer.body?.cancel()
  }
})

test('trimmed readings are named once as a gap, unless the client has them', async () => {
  const beginning = await page('?after=start&limit=1')
  const end = await now()
  const kept = await commit(ikeja, yaba)
  await api.snapshot()
  const manager = await jetstreamManager(api.nc)
  const { position = 0 } = decodeLogCursor(end) ?? {}
  await manager.streams.purge(readingsStream, { seq: position + 1 })
  // memory still has them
  expect(await page(`?after=${beginning.next_cursor}`)).toMatchObject({ gap: null })
  await api.stopApi()
  await api.startApi()
  const after = await page(`?after=${beginning.next_cursor}`)
  expect(after.gap).toEqual({ from: null, to: null, archive: null })
  expect(timesOf(after.readings)).toEqual(isoOf(kept))
  expect(await page(`?after=${after.next_cursor}`)).toMatchObject({ count: 0, gap: null })
  const csv = await ask(`?after=${beginning.next_cursor}&format=csv`)
  expect(csv.headers.get('airproof-gap')).toBe('../..')
  expect(await page(`?after=${end}`)).toMatchObject({ gap: null, count: 2 })
  expect(await page('?after=start')).toMatchObject({ gap: null, count: 2 })
})
