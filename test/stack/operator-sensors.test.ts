import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operator as en } from '../../dashboard/texts/en/operator.ts'
import { operator as fr } from '../../dashboard/texts/fr/operator.ts'
import { hashOfSecret } from '../../operate/sensor-credentials.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { auditStream, auditSubject, buckets } from '../../schemas/subjects.ts'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'

let dashboard: TestDashboard
let operator: SignedIn
beforeAll(async () => {
  dashboard = await testDashboard()
  operator = await signedIn(dashboard, { role: 'operator' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const ask = (method: string, path: string, body?: unknown) =>
  operator.ask(method, `/operator/api/sensors${path}`, body)

const importCsv = (csv: string, more: object = {}) => ask('POST', '/import', { csv, ...more })

async function lastAudit(): Promise<{ event: string; details: object }> {
  const subject = auditSubject(operator.account.id)
  const found = await lastMessage(dashboard.nc, auditStream, subject)
  return JSON.parse(new TextDecoder().decode(found?.data))
}

async function credentialOf(id: string): Promise<{ hash: string }> {
  const kv = await new Kvm(dashboard.nc).open(buckets.credentials)
  return (await kv.get(id))?.json() ?? { hash: '' }
}

const place = { area: 'Ikeja', address: '12 Allen Avenue', lat: 6.6018, lon: 3.3515 }

test('a sensor is added with its key, changed, moved, given another key and retired; each is in the audit log', async () => {
  const id = 'NGR-LOS-IKJ-001'
  const added = await ask('POST', '', { id, ...place, cadence_seconds: 60, key: true })
  expect(added.status).toBe(201)
  expect((await credentialOf(id)).hash).toBe(hashOfSecret(added.body.key))

  const changed = await ask('PATCH', `/${id}`, { cadence_seconds: 300, receipts: true })
  expect(changed.body.sensor).toMatchObject({ id, cadence_seconds: 300, receipts: true, ...place })
  expect(await lastAudit()).toMatchObject({
    event: 'operator_sensor_changed',
    details: { sensor: id, what: 'cadence, receipts' },
  })

  const there = { area: 'Yaba', address: 'Herbert Macaulay Way', lat: 6.51, lon: 3.37 }
  const moved = await ask('POST', `/${id}/move`, there)
  expect(moved.body.sensor).toMatchObject(there)
  expect(moved.body.sensor.sites.map(({ area }: { area: string }) => area)).toEqual([
    'Ikeja',
    'Yaba',
  ])
  expect(await lastAudit()).toMatchObject({ event: 'operator_sensor_moved' })

  const other = await ask('POST', `/${id}/key`, {})
  expect(other.body.key).not.toBe(added.body.key)
  // the former one ended at once
  expect(await credentialOf(id)).toEqual({
    hash: hashOfSecret(other.body.key),
    created_at: expect.any(String),
  })
  expect(await lastAudit()).toMatchObject({
    event: 'operator_sensor_key_made',
    details: { sensor: id },
  })
  expect(JSON.stringify(await lastAudit())).not.toContain(other.body.key)

  expect((await ask('DELETE', `/${id}`)).status).toBe(200)
  expect((await ask('POST', `/${id}/key`, {})).status).toBe(404)
  expect((await ask('POST', `/${id}/move`, there)).status).toBe(404)
  expect((await ask('PATCH', `/${id}`, {})).status).toBe(404)
})

test('what is wrong stands at its field', async () => {
  const id = 'NGR-LOS-IKJ-002'
  await ask('POST', '', { id, ...place })
  const fieldsOf = async (method: string, path: string, body: object) =>
    (await ask(method, path, body)).body.error.details.fields.map(
      ({ field }: { field: string }) => field,
    )
  const turned = 'Yaba \u202Eevil'
  expect(await fieldsOf('POST', `/${id}/move`, { area: turned, address: 'a\nb', lat: 91 })).toEqual(
    ['area', 'address', 'lat', 'lon'],
  )
  expect(await fieldsOf('PATCH', `/${id}`, { cadence_seconds: 0, receipts: 1, colour: 1 })).toEqual(
    ['colour', 'cadence_seconds', 'receipts'],
  )
  expect(await fieldsOf('POST', '', { id: 'x'.repeat(200), ...place })).toEqual(['id', 'id'])
  // markup is words
  const markup = '<img src=x onerror=alert(1)>'
  expect(
    (await ask('POST', `/${id}/move`, { ...place, address: markup })).body.sensor.address,
  ).toBe(markup)
})

test('a list is shown before it is imported, and then imported with keys; again it changes nothing', async () => {
  const csv = [
    'id,area,lat,lon,address,cadence',
    'NGR-LOS-SUR-001,Surulere,6.49,3.35,"1, Bode Thomas",5m',
    'NGR-LOS-SUR-002,Surulere,6.50,3.36,<b>two</b>,5m',
  ].join('\n')
  const preview = await importCsv(csv)
  expect(preview.body).toMatchObject({
    done: false,
    total: 2,
    counts: { new: 2, returns: 0, changed: 0, unchanged: 0 },
    faults: [],
  })
  expect((await ask('GET', '/NGR-LOS-SUR-001')).status).toBe(404)

  const done = await importCsv(csv, { preview: false, keys: true })
  expect(done.body).toMatchObject({ done: true, counts: { new: 2 } })
  for (const { id, key } of done.body.keys)
    expect((await credentialOf(id)).hash).toBe(hashOfSecret(key))
  expect(await lastAudit()).toMatchObject({
    event: 'operator_sensors_imported',
    details: { added: 2, changed: 0, first: 'NGR-LOS-SUR-001' },
  })
  expect((await ask('GET', '/NGR-LOS-SUR-002')).body.sensor.address).toBe('<b>two</b>')

  const again = await importCsv(csv.replace(',5m', ',1m'))
  expect(again.body.counts).toEqual({ new: 0, returns: 0, changed: 1, unchanged: 1 })
  expect(again.body.rows[0]).toEqual({
    id: 'NGR-LOS-SUR-001',
    outcome: 'changed',
    what: ['cadence'],
  })
  const keys = await importCsv(csv, { preview: false, keys: true })
  // a sensor that was there keeps its key
  expect(keys.body).toMatchObject({ counts: { unchanged: 2 }, keys: [] })

  await ask('DELETE', '/NGR-LOS-SUR-001')
  expect((await importCsv(csv)).body.counts).toMatchObject({ returns: 1, unchanged: 1 })
})

test('every row that is not right is named with its line, and nothing of the list is imported', async () => {
  const csv = [
    'id,area,lat,lon',
    'NGR-LOS-BAD-001,Yaba,6.5,3.3',
    'NGR-LOS-BAD-002,Yaba,north,3.3',
    'nonsense,Yaba,6.5,3.3',
    'NGR-LOS-BAD-003,\u202EabaY,6.5,3.3',
  ].join('\n')
  const { body } = await importCsv(csv)
  expect(body.fault_count).toBe(3)
  expect(body.faults).toMatchObject([
    { line: 3, code: 'lat', given: 'north', message: expect.stringContaining('"north"') },
    { line: 4, code: 'id', given: 'nonsense' },
    { line: 0, code: 'text', given: 'NGR-LOS-BAD-003' },
  ])
  const refused = await importCsv(csv, { preview: false })
  expect([refused.status, refused.body.error.code]).toEqual([400, 'bad_list'])
  expect((await ask('GET', '/NGR-LOS-BAD-001')).status).toBe(404)
})

const row = 'NGR-LOS-BAD-001,Yaba,6.5,3.3'
test.each([
  ['values', '', `${row},more`, 'more'],
  ['no_id', '', ',Yaba,6.5,3.3', ''],
  ['no_area', '', 'NGR-LOS-BAD-001,,6.5,3.3', ''],
  ['lon', '', 'NGR-LOS-BAD-001,Yaba,6.5,200', '200'],
  ['cadence', ',cadence', `${row},often`, 'often'],
  ['from', ',from', `${row},yesterday`, 'yesterday'],
  ['device', ',device', `${row},toaster`, 'toaster'],
  ['receipts', ',receipts', `${row},perhaps`, 'perhaps'],
  ['public_key', ',public_key', `${row},AAAA`, 'AAAA'],
  ['signature', ',signature', `${row},yes`, 'yes'],
  ['indoor', ',indoor', `${row},half`, 'half'],
  ['height_m', ',height_m', `${row},tall`, 'tall'],
  ['entry', ',owner', `${row},${'x'.repeat(201)}`, ''],
])('a fault has a code, for which pages have words: %s', async (code, column, line, given) => {
  const { body } = await importCsv(`id,area,lat,lon${column}\n${line}`)
  expect(body.faults).toMatchObject([{ line: 2, code, given }])
  for (const { importing } of [en, fr]) {
    const words: Readonly<Record<string, (given: string) => string>> = importing.rowFaults
    expect(words[code]?.(given)).toContain(given)
  }
})

test.each([
  ['wrong columns', 'name,where\na,b', /it has no "id"/],
  ['a misspelt column', 'id,lat,long\na,1,2', /did you mean "lon"/],
  ['the same column twice', 'id,id\na,b', /two columns "id"/],
  [
    'a doubled id',
    'id,area,lat,lon\nNGR-LOS-TWO-001,Yaba,6,3\nNGR-LOS-TWO-001,Yaba,6,4',
    /named twice for the same time/,
  ],
])('a list with %s is refused in words', async (_, csv, words) => {
  const { status, body } = await importCsv(csv)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(body.error.message).toMatch(words)
})

test('100,000 rows, an empty list and a file of the server are refused', async () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => `NGR-LOS-BIG-${i},A,6.5,3.3`)
  const huge = await importCsv(`id,area,lat,lon\n${rows.join('\n')}`)
  expect([huge.status, huge.body.error.code]).toEqual([413, 'body_too_large'])
  const many = await importCsv(`id,area,lat,lon\n${rows.slice(0, 6_000).join('\n')}`)
  expect(many.body.error.message).toMatch(/6000 rows, and at most 5000/)
  expect((await importCsv(' ')).status).toBe(400)
  const probe = await importCsv('id,area,lat,lon,public_key\nNGR-LOS-KEY-001,A,6,3,/etc/passwd')
  expect(probe.body.faults[0].message).toMatch(/a public key is PEM/)
})
