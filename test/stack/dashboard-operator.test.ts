import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { partitionCount, partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import { findAccount, openAccountBook } from '../../operate/account-book.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import {
  anchoredKey,
  batchKey,
  checkedKey,
  headerKey,
  openKey,
} from '../../schemas/anchoring/batch-record.ts'
import {
  auditStream,
  auditSubject,
  buckets,
  rawStream,
  rejectedHeaders,
  rejectedSubject,
  walSubject,
} from '../../schemas/subjects.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = Math.floor(Date.now() / 1000) * 1000

let api: TestApi
let dashboard: TestDashboard
let operator: SignedIn
beforeAll(async () => {
  api = await testApi()
  dashboard = await testDashboard({ nats: api.nats, env: { AIRPROOF_API_URL: api.url } })
  operator = await signedIn(dashboard, { role: 'operator' })
  await api.register({ id: sensor })
  await api.register({ id: 'NGR-LOS-YAB-002' })
  await api.commit([{ sensor, timeMs: nowMs, pm25: 3_550 }])
  await api.snapshot()
})
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const lastAudit = async (account: string) => {
  const found = await lastMessage(dashboard.nc, auditStream, auditSubject(account))
  return found && JSON.parse(new TextDecoder().decode(found.data))
}

test('only an operator is answered, on every route', async () => {
  const user = await signedIn(dashboard, { tier: 'premium' })
  const stranger = dashboard.browser()
  for (const [method, path, body] of [
    ['GET', 'status'],
    ['GET', 'anchors'],
    ['GET', 'sensors'],
    ['GET', `sensors/${sensor}`],
    ['POST', 'sensors', {}],
    ['DELETE', `sensors/${sensor}`],
    ['PATCH', `sensors/${sensor}`, {}],
    ['POST', `sensors/${sensor}/move`, {}],
    ['POST', `sensors/${sensor}/key`, {}],
    ['POST', 'sensors/import', { csv: 'id' }],
    ['GET', 'rejected'],
    ['GET', 'rejected/schema.1.2.3'],
    ['POST', 'replay', { ids: [] }],
    ['GET', 'accounts'],
    ['PATCH', `accounts/${user.account.id}`, { tier: 'premium' }],
  ] as const) {
    const { status, body: printed } = await user.ask(method, `/operator/api/${path}`, body)
    expect([method, path, status, printed.error.code]).toEqual([method, path, 403, 'not_operator'])
    if (method !== 'GET') continue
    const headersOfScript = { accept: 'application/json' }
    const answer = await stranger.get(`/operator/api/${path}`, { headers: headersOfScript })
    expect([path, answer.status]).toEqual([path, 401])
  }
  expect((await operator.ask('GET', `/operator/api/sensors/${sensor}`)).status).toBe(200)
})

test('status shows rates, every partition and every stage', async () => {
  const { status, body } = await operator.ask('GET', '/operator/api/status')
  expect(status).toBe(200)
  expect(body.partitions).toHaveLength(partitionCount)
  expect(body.sensors.registered).toBe(2)
  expect(body.partitions[partitionOf(sensor as SensorId)].accepted).toBe(1)
  // neither statistics nor notifier ever ran here
  expect(body.lags).toEqual({ statistics: null, unmatched: null, mails: expect.any(Number) })
  expect(body.webhooks.silent).toBe(body.webhooks.shards)
  expect(body.anchor.last).toBe(null)
  const anchors = await operator.ask('GET', '/operator/api/anchors')
  expect(anchors.body).toMatchObject({ deployment: null, checked: null, batches: [] })
})

test('sensors are listed with their newest reading, searched, added and removed', async () => {
  const all = await operator.ask('GET', '/operator/api/sensors')
  expect(all.body).toMatchObject({ total: 2, next: null })
  expect(all.body.sensors.map((one: any) => [one.id, one.state, one.aqi])).toEqual([
    [sensor, 'online', 101],
    ['NGR-LOS-YAB-002', 'unheard', null],
  ])
  const first = await operator.ask('GET', '/operator/api/sensors?limit=1')
  expect([first.body.sensors.length, first.body.next]).toEqual([1, sensor])
  const second = await operator.ask('GET', `/operator/api/sensors?limit=1&after=${sensor}`)
  expect([second.body.sensors[0].id, second.body.next]).toEqual(['NGR-LOS-YAB-002', null])
  const found = await operator.ask('GET', '/operator/api/sensors?search=yab-')
  expect(found.body.sensors.map((one: any) => one.id)).toEqual(['NGR-LOS-YAB-002'])
  // an archive's sensor is not without data
  await api.commit([{ sensor: 'NGR-LOS-YAB-002', timeMs: nowMs - 2 * dayMs, arrivedMs: nowMs }])
  await api.snapshot()
  await expect
    .poll(async () => (await operator.ask('GET', '/operator/api/sensors?state=offline')).body)
    .toMatchObject({
      total: 1,
      sensors: [{ id: 'NGR-LOS-YAB-002', last_reading: formatIso(nowMs - 2 * dayMs) }],
    })
  expect((await operator.ask('GET', '/operator/api/sensors?state=unheard')).body.total).toBe(0)
  expect((await operator.ask('GET', '/operator/api/sensors?state=asleep')).status).toBe(400)
  expect((await operator.ask('GET', '/operator/api/sensors?limit=0')).status).toBe(400)

  const address = '<script>alert(1)</script> Road'
  const wanted = { id: 'NGR-LOS-VIC-009', area: 'Victoria Island', address, lat: 6.43, lon: 3.42 }
  const added = await operator.ask('POST', '/operator/api/sensors', wanted)
  expect([added.status, added.body.sensor.address]).toEqual([201, address])
  expect(added.body.sensor.cadence_seconds).toBe(300)
  expect(await lastAudit(operator.account.id)).toMatchObject({
    event: 'operator_sensor_added',
    details: { sensor: wanted.id },
  })
  const twice = await operator.ask('POST', '/operator/api/sensors', wanted)
  expect([twice.status, twice.body.error.details.fields[0].field]).toEqual([400, 'id'])

  const gone = await operator.ask('DELETE', `/operator/api/sensors/${wanted.id}`)
  expect(gone.body.sensor).toEqual({ id: wanted.id, removed: true })
  expect((await operator.ask('GET', `/operator/api/sensors/${wanted.id}`)).status).toBe(404)
  expect((await operator.ask('DELETE', `/operator/api/sensors/${wanted.id}`)).status).toBe(404)
})

test('an invalid sensor is refused with every wrong field', async () => {
  const { status, body } = await operator.ask('POST', '/operator/api/sensors', {
    id: 'LOS-1',
    area: '',
    lat: 91,
    lon: 'east',
    cadence_seconds: 0,
  })
  expect(status).toBe(400)
  const fields = body.error.details.fields.map((one: any) => one.field)
  expect(fields.toSorted()).toEqual(['address', 'area', 'cadence_seconds', 'id', 'lat', 'lon'])
})

type Refusal = { readonly reason: string; readonly rawSeq: number; readonly body: Uint8Array }

async function refuse(nc: NatsConnection, { reason, rawSeq, body }: Refusal): Promise<string> {
  const head = headers()
  head.set(rejectedHeaders.sensor, sensor)
  head.set(rejectedHeaders.why, 'because <b>so</b>')
  head.set(rejectedHeaders.arrived, String(nowMs))
  head.set(rejectedHeaders.length, String(body.length))
  head.set(rejectedHeaders.sha256, 'ab'.repeat(32))
  const partition = partitionOf(sensor as SensorId)
  const subject = rejectedSubject(reason, partition, rawSeq, 0, sensor)
  await jetstream(nc).publish(subject, body, { headers: head })
  return `${reason}.${sensor}.${partition}.${rawSeq}.0`
}

test('what was refused is counted, listed, shown as text and sent again', async () => {
  const { nc } = dashboard
  const text = '{"pm25": "<img src=x onerror=alert(1)>"}'
  const one = await refuse(nc, { reason: 'schema', rawSeq: 1, body: Buffer.from(text) })
  const two = await refuse(nc, { reason: 'not_json', rawSeq: 2, body: Buffer.from([0xff, 0x00]) })
  await refuse(nc, { reason: 'schema', rawSeq: 3, body: Buffer.from('{}') })

  const { body } = await operator.ask('GET', '/operator/api/rejected?reason=schema&limit=1')
  expect(body.counts).toEqual({ schema: 2, not_json: 1 })
  expect(body.rejected.map((found: any) => [found.id, found.sensor])).toEqual([
    [one.replace('.1.0', '.3.0'), sensor],
  ])
  const shown = await operator.ask('GET', `/operator/api/rejected/${one}`)
  expect(shown.body.rejected).toMatchObject({ body: text, body_encoding: 'utf8', truncated: false })
  const bytes = await operator.ask('GET', `/operator/api/rejected/${two}`)
  expect(bytes.body.rejected).toMatchObject({ body: '/wA=', body_encoding: 'base64' })

  const before = await rawCount(nc)
  const again = await operator.ask('POST', '/operator/api/replay', { ids: [one, one] })
  expect(again.body).toMatchObject({ replayed: 1, truncated: 0, gone: 0 })
  await eventually('it came in again', async () => (await rawCount(nc)) === before + 1)
  expect((await operator.ask('GET', `/operator/api/rejected/${one}`)).status).toBe(404)
  expect(await lastAudit(operator.account.id)).toMatchObject({
    event: 'operator_rejected_replayed',
    details: { count: 1, first: one },
  })
  for (const ids of [undefined, [], [7], ['schema.0.0.0'], ['../x']]) {
    const { status } = await operator.ask('POST', '/operator/api/replay', { ids })
    expect([ids, status]).toEqual([ids, typeof ids?.[0] === 'string' ? 404 : 400])
  }
  expect((await operator.ask('GET', '/operator/api/rejected?reason=bored')).status).toBe(400)
})

async function rawCount(nc: NatsConnection): Promise<number> {
  const { state } = await (await jetstream(nc).jetstreamManager()).streams.info(
    rawStream(partitionOf(sensor as SensorId)),
  )
  return state.last_seq
}

test('an account’s tier is changed, and both audit logs have it', async () => {
  const ben = await signedIn(dashboard, { email: 'ben@example.org', name: 'Ben <i>Eze</i>' })
  const path = `/operator/api/accounts/${ben.account.id}`
  const found = await operator.ask('GET', '/operator/api/accounts?search=BEN%40')
  expect(found.body.accounts.map((one: any) => [one.name, one.tier])).toEqual([
    ['Ben <i>Eze</i>', 'free'],
  ])
  expect(JSON.stringify(found.body)).not.toMatch(/password|hash/)
  const { status, body } = await operator.ask('PATCH', path, { tier: 'premium' })
  expect([status, body.account.tier, body.account.role]).toEqual([200, 'premium', 'user'])
  expect(await lastAudit(operator.account.id)).toMatchObject({ event: 'operator_tier_changed' })
  const audited = await lastAudit(ben.account.id)
  expect(audited).toMatchObject({ event: 'tier_changed', details: { from: 'free', to: 'premium' } })
  expect(audited.address).toBeUndefined()

  for (const wrong of [{ tier: 'gold' }, {}, { tier: 'free', role: 'operator' }])
    expect((await operator.ask('PATCH', path, wrong)).status).toBe(400)
  const nobody = await operator.ask('PATCH', '/operator/api/accounts/acc_none', { tier: 'free' })
  expect(nobody.status).toBe(404)
  const book = await openAccountBook(dashboard.nc)
  expect(await findAccount(book, ben.account.id)).toMatchObject({ tier: 'premium', role: 'user' })
})

const hashOf = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`

test('the newest batches are listed, each with its state', async () => {
  const kvm = new Kvm(dashboard.nc)
  const batches = await kvm.open(buckets.batches)
  const put = (key: string, value: unknown) => batches.put(key, JSON.stringify(value))
  const boundary = { sealedMs: nowMs, beacon: hashOf('0') }
  await put(batchKey(0), { first: 1, last: 4, ...boundary })
  await put(batchKey(1), { first: 5, last: 9, ...boundary })
  await put(batchKey(2), { first: 10, last: 12, ...boundary })
  for (const index of [0, 1])
    await put(headerKey(index), {
      header: {
        index,
        prevHead: hashOf('1'),
        root: hashOf('2'),
        first: 1 + 4 * index,
        last: 4 + 5 * index,
        count: 7 + index,
        timeMinMs: nowMs,
        timeMaxMs: nowMs,
        nFirst: [1],
        nLast: [1],
        ...boundary,
      },
      headerHash: hashOf('3'),
      head: hashOf('4'),
    })
  await put(anchoredKey(0), {
    index: 0,
    status: 'final',
    tx: hashOf('5'),
    block: 17,
    blockHash: hashOf('6'),
    blockTimeS: nowMs / 1000,
    finalized: null,
    checkedMs: nowMs,
  })
  await put(checkedKey, {
    index: 0,
    head: hashOf('4'),
    number: 20,
    hash: hashOf('7'),
    checkedMs: nowMs,
  })
  await put(openKey, { index: 3, beacon: hashOf('0') })

  const { body } = await operator.ask('GET', '/operator/api/anchors?limit=2')
  const at = formatIso(nowMs)
  expect(body.checked).toEqual({ index: 0, block: 20, at })
  expect(body.batches.map((one: any) => [one.index, one.state, one.count])).toEqual([
    [2, 'closing', null],
    [1, 'sealed', 8],
  ])
  const all = await operator.ask('GET', '/operator/api/anchors')
  expect(all.body.batches.at(-1)).toEqual({
    index: 0,
    count: 7,
    first: 1,
    last: 4,
    sealed_at: at,
    state: 'final',
    tx: hashOf('5'),
    block: 17,
    block_time: at,
  })
  expect((await operator.ask('GET', '/operator/api/anchors?limit=many')).status).toBe(400)
})

test('the lag of statistics and notifier is shown in messages', async () => {
  const { nc } = dashboard
  const events = await jetstream(nc).publish('air.events.presence.x', '{}')
  const walHeaders = headers()
  walHeaders.set(sourceRows.events.header, String(events.seq - 1))
  await jetstream(nc).publish(walSubject(0), 'x', { headers: walHeaders })
  const system = await new Kvm(nc).open(buckets.system)
  await system.put('rollup', JSON.stringify({ position: 0, dirty: [], dirtyDays: [] }))
  const { body } = await operator.ask('GET', '/operator/api/status')
  expect(body.lags).toMatchObject({ statistics: api.lastSeq(), unmatched: 1 })
})
