import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayOf } from '../../core/access/quota.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { decodeLogCursor } from '../../schemas/log/log-cursor.ts'
import { decodeCount, quotaKey } from '../../schemas/people/quota.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import type { TestApi } from '../support/api.ts'
import { type EventStream, listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { apiOfTwo, ikeja, yaba } from '../support/two-sensors.ts'
import { withinOneDay } from '../support/within-one-day.ts'

let api: TestApi
/** Every reading of a run has its own time, all of them fresh. */
let timeMs = 0
beforeAll(async () => {
  const begun = await apiOfTwo()
  api = begun.api
  timeMs = begun.startMs
})
afterAll(() => api[Symbol.asyncDispose]())

const listen = (query = '', more: Readonly<Record<string, string>> = {}): Promise<EventStream> =>
  listenTo(`${api.url}/v1/stream${query}`, { authorization: `Bearer ${api.key}`, ...more })
const commit = (sensor: string, more: object = {}) =>
  api.commit([{ sensor, timeMs: (timeMs += 1_000), ...more }])
const receive = (stream: EventStream, count: number) =>
  eventually(`${count} events`, () => stream.events.length >= count && stream.events)
const positionOf = (id: string | undefined) => decodeLogCursor(id ?? '')?.position
const timesOf = (stream: EventStream): string[] =>
  stream.events.map(({ data }) => data.timestamp as string)

test('committed readings are sent as they happen, like an item of /v1/readings', async () => {
  using stream = await listen()
  expect(stream.status).toBe(200)
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  await eventually('its start is reported', () => positionOf(stream.lastId()) === api.lastSeq())
  const [reading] = await commit(ikeja)
  await api.commit([{ sensor: yaba, timeMs: timeMs - 3_600_000, arrivedMs: timeMs }])
  await api.commit([{ sensor: yaba, timeMs: (timeMs += 1_000) }], {
    events: [
      { kind: 'online', place: 0, offlineSinceMs: timeMs - 59_000 },
      { kind: 'rise', place: 0, from: 10, to: 90, previousAqi: 5 },
    ],
  })
  const offlineSinceMs = timeMs - 900_000
  await api.commit([], {
    events: [
      {
        kind: 'offline',
        sensor: ikeja as SensorId,
        lastReadingMs: timeMs - 901_000,
        offlineSinceMs,
        silenceMs: 900_400,
      },
    ],
  })
  const events = await receive(stream, 5)
  const kinds = events.map(({ event }) => event)
  expect(kinds).toEqual(['reading', 'reading.late', 'reading', 'sensor.online', 'sensor.offline'])
  const page = await api.get(`/v1/readings?sensor_id=${ikeja}&limit=1`)
  const { readings } = (await page.json()) as { readings: object[] }
  expect(events[0]?.data).toEqual(readings[0])
  expect(events[0]?.data).toMatchObject({
    sensor_id: ikeja,
    timestamp: formatIsoMs(reading?.timeMs ?? 0),
    blockchain: { verified: false },
  })
  expect(events[1]?.data.sensor_id).toBe(yaba)
  // a reading arrives a second after its time here
  const online = { sensor_id: yaba, last_reading: formatIsoMs(timeMs), downtime_seconds: 60 }
  expect(events[3]?.data).toEqual(online)
  expect(events[4]?.data).toEqual({
    sensor_id: ikeja,
    last_reading: formatIsoMs(timeMs - 901_000),
    offline_since: formatIsoMs(offlineSinceMs),
    silence_seconds: Math.round((offlineSinceMs - timeMs) / 1_000) + 901,
  })
})

test('a client that reconnects continues after the last event, also in the middle of a message', async () => {
  const readings = await api.commit(
    [1, 2, 3, 4].map(() => ({ sensor: ikeja, timeMs: (timeMs += 1_000) })),
  )
  const seq = api.lastSeq()
  await commit(yaba)
  const wanted = readings.map((one) => formatIsoMs(one.timeMs))
  using byHeader = await listen('', { 'last-event-id': `${seq}-1` })
  using byParameter = await listen(`?last_event_id=${seq}-3`, { 'last-event-id': '1-0' })
  using whole = await listen('', { 'last-event-id': String(seq) })
  await commit(ikeja)
  await receive(byHeader, 4)
  const last = [formatIsoMs(timeMs - 1_000), formatIsoMs(timeMs)]
  expect(timesOf(byHeader)).toEqual([...wanted.slice(2), ...last])
  await receive(byParameter, 2)
  expect(timesOf(byParameter)).toEqual(last)
  await receive(whole, 2)
  expect(timesOf(whole)).toEqual(last)
  // each id is the cursor after its event, in whose message there may be more
  expect(byHeader.events.map(({ id }) => positionOf(id))).toEqual([seq - 1, seq - 1, seq, seq + 1])
})

test('nothing is lost or sent twice, however often a client reconnects while the log grows', async () => {
  const begun = await listen()
  let lastId = await eventually('it has started', () => begun.lastId())
  begun[Symbol.dispose]()
  let isOver = false
  const committed: string[] = []
  const writing = (async () => {
    while (committed.length < 120) {
      await api.commit([1, 2].map(() => ({ sensor: ikeja, timeMs: (timeMs += 1_000) })))
      committed.push(formatIsoMs(timeMs - 1_000), formatIsoMs(timeMs))
    }
    isOver = true
  })()
  const received: string[] = []
  await eventually('everything is sent', async () => {
    const stream = await listen('', { 'last-event-id': lastId })
    const enough = isOver ? 120 - received.length : 5
    await eventually('some more', () => isOver || stream.events.length >= enough)
    if (isOver) await eventually('the rest', () => received.length + stream.events.length >= 120)
    const events = stream.events.slice(0, isOver ? undefined : 7)
    stream[Symbol.dispose]()
    received.push(...events.map(({ data }) => data.timestamp as string))
    lastId = events.at(-1)?.id ?? lastId
    return received.length >= 120
  })
  await writing
  expect(received).toEqual(committed)
})

test('only what is requested is sent, now and after reconnecting', async () => {
  using one = await listen(`?sensor_id=${yaba}`)
  using area = await listen('?area=yaba')
  using box = await listen('?bbox=3.34,6.59,3.36,6.61')
  using nobody = await listen('?area=Nowhere')
  await commit(ikeja)
  await commit(yaba)
  await receive(box, 1)
  await receive(one, 1)
  await receive(area, 1)
  await commit(ikeja)
  await receive(box, 2)
  const sensorsOf = (stream: EventStream) => stream.events.map(({ data }) => data.sensor_id)
  expect([one, area, box, nobody].map(sensorsOf)).toEqual([[yaba], [yaba], [ikeja, ikeja], []])

  const from = api.lastSeq()
  await commit(ikeja)
  await commit(yaba)
  using back = await listen('?area=yaba', { 'last-event-id': String(from) })
  await receive(back, 1)
  expect(sensorsOf(back)).toEqual([yaba])
})

test.each([
  ['?bbox=1,2,3', 400],
  ['?sensor_id=NGR-LOS-XXX-999', 404],
  ['?last_event_id=yesterday', 400],
  ['?last_event_id=1-2-3', 400],
  ['?status=online', 400],
  ['?area=', 400],
])('%s is refused', async (query, status) => {
  const answer = await api.get(`/v1/stream${query}`)
  expect(answer.status).toBe(status)
  await answer.body?.cancel()
})

test('messages that the log does not hold any more are reported as a gap, and so is another log', async () => {
  await commit(ikeja)
  const lastKept = api.lastSeq()
  await commit(yaba)
  const manager = await jetstreamManager(api.nc)
  await manager.streams.purge(readingsStream, { seq: lastKept })
  using trimmed = await listen('', { 'last-event-id': '1-0' })
  const events = await receive(trimmed, 3)
  expect(events.map(({ event }) => event)).toEqual(['gap', 'reading', 'reading'])
  // nothing is in a batch here, so the times of what is missing are not known
  const unknown = { from: null, to: null, archive: null }
  expect(events[0]?.data).toEqual({ after: '1-0', oldest: expect.any(String), ...unknown })
  expect(positionOf(events[0]?.data.oldest)).toBe(lastKept - 1)

  using exact = await listen('', { 'last-event-id': String(lastKept - 1) })
  expect((await receive(exact, 2)).map(({ event }) => event)).toEqual(['reading', 'reading'])

  using other = await listen('', { 'last-event-id': '900000000' })
  expect((await receive(other, 1))[0]).toMatchObject({
    event: 'gap',
    data: { after: '900000000', oldest: null },
  })
  await commit(ikeja)
  expect((await receive(other, 2))[1]?.event).toBe('reading')
})

test('a connection is one request, and an account has ten at once', () =>
  withinOneDay(async () => {
    const account = `acc_streams_${timeMs}`
    const { key } = await api.newKey({ account })
    const own = { authorization: `Bearer ${key}` }
    const usage = () => api.get('/v1/usage', { headers: own })
    await eventually('the key is known', async () => (await usage()).status === 200)
    const used = async (): Promise<number> => {
      const kv = await new Kvm(api.nc).open(buckets.quota)
      const entry = await kv.get(quotaKey(dayOf(Date.now()), account))
      return decodeCount(entry?.string() ?? '').used
    }
    using streams = new DisposableStack()
    const open = async () => streams.use(await listen('', own))
    const ten: EventStream[] = []
    for (let i = 0; i < 10; i++) ten.push(await open())
    expect(ten.map(({ status }) => status)).toEqual(ten.map(() => 200))
    expect(await used()).toBe(10)
    const refused = await open()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10'])
    await eventually('the refused one is not charged', async () => (await used()) === 10)
    ten[0]?.[Symbol.dispose]()
    await eventually('there is room again', async () => (await open()).status === 200)
    using others = await listen()
    expect(others.status).toBe(200)
  }))

test('a stream ends when its key is revoked', async () => {
  const { key, hash } = await api.newKey()
  const own = { authorization: `Bearer ${key}` }
  await eventually('the key is known', async () => {
    return (await api.get('/v1/usage', { headers: own })).status === 200
  })
  using stream = await listen('', own)
  const entry = await api.keys.get(hash)
  const revoked = { ...entry?.json<object>(), revoked_at: formatIsoMs(Date.now()) }
  await api.keys.put(hash, JSON.stringify(revoked))
  await eventually('it is closed', stream.isClosed)
  expect(stream.events).toMatchObject([{ event: 'end', data: { code: 'revoked_key' } }])
})

test('streams end while NATS is silent, and when the process stops', async () => {
  using silent = await listen()
  api.nats.freeze()
  await eventually('it is closed', silent.isClosed)
  api.nats.thaw()
  expect(silent.events).toMatchObject([{ event: 'end', data: { code: 'keys_unknown' } }])
  const stream = await eventually('it can be joined again', async () => {
    const again = await listen('', { 'last-event-id': silent.lastId() ?? '' })
    return again.status === 200 && again
  })
  await commit(ikeja)
  await receive(stream, 1)
  await api.stopApi()
  await eventually('it is closed', stream.isClosed)
  expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { code: 'stopping' } })
  // the log was trimmed in a test above, so a start needs a snapshot
  await api.snapshot()
  await api.startApi()
  using back = await listen('', { 'last-event-id': stream.lastId() ?? '' })
  await commit(yaba)
  expect((await receive(back, 1))[0]?.data.sensor_id).toBe(yaba)
})
