/** Whatever visitors and other accounts request, an account's own queries are answered. */
import { expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'

// a busy machine answers an attack slowly

const missing = await influxMissing()

const startMs = floorTo(Date.now(), dayMs) - 2 * dayMs
const sensors = Array.from(
  { length: 100 },
  (_, i) => `NGR-LOS-IKJ-${String(i + 1).padStart(3, '0')}`,
)
const [sensor = ''] = sensors

/** A day of a hundred sensors, a reading per minute: a query over the day reads 144,000 rows. */
async function fill(api: TestApi): Promise<void> {
  for (const id of sensors.slice(0, 2)) await api.register({ id, sites: [siteOf('Ikeja')] })
  const [row] = await api.commit([{ sensor, timeMs: startMs }])
  if (row === undefined) throw new Error('nothing was committed')
  for (const [i, id] of sensors.entries()) {
    const day = Array.from({ length: dayMs / minuteMs }, (_, n) => ({
      ...row,
      sensor: id as typeof row.sensor,
      timeMs: startMs + n * minuteMs,
      seq: 1_000 + i * 2_000 + n,
    }))
    await api.store.writeBatch(id === sensor ? day.slice(1) : day)
  }
  await eventually('the sensor is known', async () => {
    const answer = await api.get(`/v1/sensors/${sensor}/status`)
    return answer.status === 200
  })
}

/** A span of the day that no other query uses. */
const span = (n: number): string =>
  `start_time=${formatIso(startMs + n * 10 * secondMs)}&end_time=${formatIso(startMs + dayMs - hourMs)}`

type Attack = AsyncDisposable & {
  readonly statuses: number[]
  /** The clients disconnect. */
  readonly stop: () => Promise<void>
  /** Requests under way are still answered. */
  readonly finish: () => Promise<void>
}

/** Sends all requests at once, and again after each answer; a refused one is not repeated. */
function attack(
  api: TestApi,
  count: number,
  headers: (n: number) => Record<string, string>,
): Attack {
  const statuses: number[] = []
  const stop = new AbortController()
  let sent = 0
  let isOver = false
  const ask = async (n: number): Promise<void> => {
    while (!isOver) {
      const path = `/v1/areas/lagos?${span(sent++ % 4_000)}`
      const answer = await api
        .get(path, { headers: headers(n), signal: stop.signal })
        .catch(() => undefined)
      if (answer === undefined) return
      statuses.push(answer.status)
      if (answer.status !== 200 && answer.status !== 503)
        throw new Error(`${path}: ${answer.status}`)
      const body = (await answer.json().catch(() => undefined)) as { error?: object } | undefined
      if (answer.status !== 503 || body === undefined) continue
      expect(body.error).toMatchObject({
        code: expect.stringMatching(/^(overloaded|took_too_long)$/),
      })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      return
    }
  }
  const all = Array.from({ length: count }, (_, n) => ask(n))
  const finish = async (): Promise<void> => {
    isOver = true
    await Promise.all(all)
  }
  const end = async (): Promise<void> => {
    stop.abort()
    await finish()
  }
  return { statuses, stop: end, finish, [Symbol.asyncDispose]: end }
}

/** Requests of an account that read the store. */
async function expectAnswers(api: TestApi): Promise<void> {
  for (const path of [
    `/v1/readings/${sensor}/verify?timestamp=${formatIso(startMs)}`,
    `/v1/areas/Ikeja?${span(4_000)}&interval=hour`,
    `/v1/readings?sensor_id=${sensor}&end_time=${formatIso(startMs + hourMs)}`,
    `/v1/areas/Ikeja?${span(4_001)}`,
  ]) {
    const answer = await api.get(path)
    expect([path, answer.status, answer.status === 200 || (await answer.text())]).toEqual([
      path,
      200,
      true,
    ])
    await answer.body?.cancel()
  }
}

/** One line for all, first come, first served, would be full of these. */
const many = 300

/** @returns the answers to another visitor: under attack, and after it */
async function statusesUnderAttack(api: TestApi): Promise<readonly number[]> {
  await fill(api)
  const { key: internal } = await api.newKey({ account: 'dashboard', internal: true })
  const from = (network: string): Record<string, string> => ({
    authorization: `Bearer ${internal}`,
    'airproof-network': network,
  })
  await using one = attack(api, many, () => from('203.0.113.7'))
  await eventually('its line is full', () => one.statuses.includes(503))
  await expectAnswers(api)
  // another visitor has its turn too
  const other = await api.get(`/v1/areas/lagos?${span(4_002)}`, { headers: from('203.0.113.8') })
  await using all = attack(api, many, (n) => from(`2001:db8:${n.toString(16)}:0`))
  await eventually('the line is full', () => all.statuses.includes(503))
  await expectAnswers(api)
  await Promise.all([one.stop(), all.stop()])
  // abandoned queries have left the line: who filled it is answered again
  await eventually('the line is empty', async () => {
    const again = await api.get(`/v1/areas/lagos?${span(4_004)}`, {
      headers: from('203.0.113.7'),
    })
    await again.body?.cancel()
    return again.status === 200
  })
  const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^airproof_api_requests_total\{.*status="499".*\} [1-9]/m)
  const after = await api.get(`/v1/areas/lagos?${span(4_003)}`, { headers: from('203.0.113.9') })
  return [other.status, after.status]
}

const what =
  'one visitor, and many, send as fast as they can: accounts are answered, and clients that leave cost nothing'

test(`${what}, in SQLite`, async () => {
  await using api = await testApi()
  expect(await statusesUnderAttack(api)).toEqual([200, 200])
})

test.skipIf(missing !== undefined)(
  `${what}, in InfluxDB${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    await using influx = await testInflux()
    const bucket = await influx.newBucket()
    const env = {
      INFLUX_URL: bucket.url,
      INFLUX_ORG: bucket.org,
      INFLUX_BUCKET: bucket.bucket,
      INFLUX_TOKEN: bucket.token,
    }
    await using api = await testApi({ env, openStore: () => bucket.open() })
    expect(await statusesUnderAttack(api)).toEqual([200, 200])
  },
)

test('an account that sends as fast as it can delays another by its turns, and its 503s are refunded', async () => {
  await using api = await testApi()
  await fill(api)
  const { key: greedy } = await api.newKey({ account: 'account-2' })
  const headers = { authorization: `Bearer ${greedy}` }
  await using greed = attack(api, many, () => headers)
  await eventually('its line is full', () => greed.statuses.includes(503))
  await expectAnswers(api)
  await greed.finish()
  const count = (wanted: number): number =>
    greed.statuses.filter((status) => status === wanted).length
  expect(count(503)).toBeGreaterThan(0)
  await eventually('refused requests are not counted', async () => {
    const answer = await api.get('/v1/usage', { headers })
    return ((await answer.json()) as { used: number }).used === count(200)
  })
})

test('an account opens a stream while visitors have opened all of theirs', async () => {
  await using api = await testApi()
  await api.register({ id: sensor })
  await api.commit([{ sensor, timeMs: Date.now() }])
  const { key: internal } = await api.newKey({ account: 'dashboard', internal: true })
  using streams = new DisposableStack()
  const open = async (n: number): Promise<number> => {
    const headers = {
      authorization: `Bearer ${internal}`,
      'airproof-network': `198.51.100.${Math.floor(n / 200)}`,
    }
    return streams.use(await listenTo(`${api.url}/v1/stream`, headers)).status
  }
  const statuses = await Promise.all(Array.from({ length: 1_001 }, (_, n) => open(n)))
  expect(Map.groupBy(statuses, (status) => status).get(200)).toHaveLength(1_000)
  expect(await open(0)).toBe(503)
  const own = streams.use(
    await listenTo(`${api.url}/v1/stream`, { authorization: `Bearer ${api.key}` }),
  )
  expect(own.status).toBe(200)
})
