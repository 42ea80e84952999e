import { expect, test } from 'vitest'
import { checkKey, sensorKeyPrefix } from '../../core/access/api-key.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { hashOfSecret, newSecret } from '../../operate/sensor-credentials.ts'
import { parseCredential } from '../../schemas/devices/credential.ts'
import { entryFault, parseSensor } from '../../schemas/devices/registered-sensor.ts'

const rules = sensorIdRules()
const entry = {
  id: 'NGR-LOS-IKJ-017',
  cadence_seconds: 60,
  sites: [{ from: '2024-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: '' }],
  created_at: '2024-01-01T00:00:00Z',
}

test('a secret is of its own kind, and no two are the same', () => {
  const [one, other] = [newSecret(), newSecret()]
  expect(one).toMatch(/^aqs_[0-9A-Za-z]{36}$/)
  expect(checkKey(sensorKeyPrefix, one)).toBe('ok')
  expect(checkKey(sensorKeyPrefix, `${one.slice(0, -1)}${one.endsWith('a') ? 'b' : 'a'}`)).toBe(
    'mistyped',
  )
  expect(one).not.toBe(other)
})

test('a record without a whole hash is not a credential', () => {
  const record = { hash: hashOfSecret('x'), created_at: '2026-01-01T00:00:00Z' }
  expect(parseCredential(record)).toEqual(record)
  expect(parseCredential({ ...record, hash: 'abc' })).toBeUndefined()
  expect(parseCredential({ ...record, previous: { hash: record.hash } })).toBeUndefined()
  expect(parseCredential('secret')).toBeUndefined()
})

test('a sensor may name its device, ask for receipts and have bounds of its own', () => {
  const device = { kind: 'ttn', serial: '70B3D57ED0000001', options: { pm25: 'pm2_5', factor: 10 } }
  const full = { ...entry, device, receipts: true, flood: { per_second: 5, burst: 100 } }
  expect(parseSensor(full, rules)).toMatchObject({
    device,
    receipts: true,
    flood: { perSecond: 5, burst: 100 },
  })
  expect(Object.keys(parseSensor(entry, rules) ?? {})).toEqual(['id', 'cadenceMs', 'sites'])
})

test.each<[string, object]>([
  ['a device of no kind we know', { device: { kind: 'toaster', serial: 'a' } }],
  ['a serial that is a wildcard', { device: { kind: 'tasmota', serial: '>' } }],
  ['a serial of two levels', { device: { kind: 'tasmota', serial: 'a/b' } }],
  ['a serial of two tokens', { device: { kind: 'tasmota', serial: 'a.b' } }],
  ['options within options', { device: { kind: 'ttn', serial: 'a', options: { a: {} } } }],
  ['a flood bound of nothing', { flood: { per_second: 0, burst: 1 } }],
])('%s is refused by the registry', (_what, fields) => {
  expect(entryFault({ ...entry, ...fields }, rules)).toBeTypeOf('string')
  expect(parseSensor({ ...entry, ...fields }, rules)).toBeUndefined()
})
