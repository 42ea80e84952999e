import { expect, test } from 'vitest'
import { deviceKeyOf } from '../../cli/sensors/signing.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { keysOfReturned, withNewKey } from '../../operate/sensor-keys.ts'
import { sensorsFromCsv } from '../../operate/sensor-list.ts'
import { withSettings } from '../../operate/sensor-settings.ts'
import type { SensorKey } from '../../schemas/devices/sensor.ts'
import { createSigner } from '../support/device-signer.ts'

const startMs = Date.UTC(2026, 0, 1)
const keys = Array.from({ length: 10 }, (_, i) => {
  const { algorithm, publicKey } = createSigner('ed25519', `key ${i}`)
  return { algorithm, publicKey }
})
const at = (day: number, overlapMs = hourMs) => ({ fromMs: startMs + day * dayMs, overlapMs })
const periods = (list: readonly SensorKey[]) =>
  list.map(({ public_key, from, until }) => [
    keys.findIndex(({ publicKey }) => publicKey === public_key),
    from.slice(0, 16),
    until?.slice(0, 16),
  ])

test('a new key ends the one before it after the overlap; the same again changes nothing', () => {
  const first = withNewKey([], { key: keys[0]!, ...at(0) }, startMs)
  const second = withNewKey(first, { key: keys[1]!, ...at(9) }, startMs)
  expect(periods(second)).toEqual([
    [0, '2026-01-01T00:00', '2026-01-10T01:00'],
    [1, '2026-01-10T00:00', undefined],
  ])
  expect(withNewKey(second, { key: keys[1]!, ...at(20) }, startMs)).toBe(second)
  // an end that was said before is not put off
  expect(periods(withNewKey(second, { key: keys[2]!, ...at(9, 0) }, startMs))[0]?.[2]).toBe(
    '2026-01-10T00:00',
  )
})

test('without a key all end at once, and keep their times; the former key may come back', () => {
  const first = withNewKey([], { key: keys[0]!, ...at(0) }, startMs)
  const none = withNewKey(first, { key: null, ...at(5) }, startMs)
  expect(periods(none)).toEqual([[0, '2026-01-01T00:00', '2026-01-06T00:00']])
  expect(withNewKey(none, { key: null, ...at(6) }, startMs)).toBe(none)
  expect(periods(withNewKey(none, { key: keys[0]!, ...at(7) }, startMs))).toEqual([
    [0, '2026-01-01T00:00', '2026-01-06T00:00'],
    [0, '2026-01-08T00:00', undefined],
  ])
})

test('when a key was entered is kept, and since when a signature is required', () => {
  const bare = { id: 'A', cadence_seconds: 60, sites: [], created_at: '2026-01-01T00:00:00Z' }
  const newKey = { key: keys[0]!, ...at(0) }
  const first = withSettings(bare, { newKey, signature: 'required' }, startMs + dayMs)
  expect(first).toMatchObject({
    keys: [{ from: '2026-01-01T00:00:00Z', added_at: '2026-01-02T00:00:00Z' }],
    signature: 'required',
    signature_since: '2026-01-02T00:00:00Z',
  })
  // required again is not since now
  expect(withSettings(first, { signature: 'required' }, startMs + 5 * dayMs)).toEqual(first)
  const free = withSettings(first, { signature: 'optional' }, startMs + 5 * dayMs)
  expect(free).not.toHaveProperty('signature_since')
  expect(withSettings(free, { signature: 'required' }, startMs + 6 * dayMs)).toMatchObject({
    signature_since: '2026-01-07T00:00:00Z',
  })
})

test('a sensor that comes back keeps the keys of its older readings, which ended when it was retired', () => {
  const former = withNewKey(
    withNewKey([], { key: keys[0]!, ...at(0) }, startMs),
    { key: keys[1]!, ...at(5) },
    startMs,
  )
  const fresh = withNewKey([], { key: keys[2]!, ...at(20) }, startMs)
  expect(periods(keysOfReturned(former, '2026-01-11T00:00:00Z', fresh))).toEqual([
    [0, '2026-01-01T00:00', '2026-01-06T01:00'],
    [1, '2026-01-06T00:00', '2026-01-11T00:00'],
    [2, '2026-01-21T00:00', undefined],
  ])
  const many = keys.slice(0, 8).map((key, i) => ({
    algorithm: key.algorithm,
    public_key: key.publicKey,
    from: new Date(startMs + i * dayMs).toISOString(),
  }))
  expect(periods(keysOfReturned(many, '2026-02-01T00:00:00Z', fresh)).map(([key]) => key)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 2,
  ])
})

test('the ninth key takes the place of the one that ended first, unless all are valid', () => {
  const rotated = keys
    .slice(0, 9)
    .reduce<readonly SensorKey[]>(
      (list, key, i) => withNewKey(list, { key, ...at(i) }, startMs),
      [],
    )
  expect(periods(rotated).map(([key]) => key)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  const long = keys
    .slice(0, 8)
    .reduce<readonly SensorKey[]>(
      (list, key, i) => withNewKey(list, { key, ...at(i, 90 * dayMs) }, startMs),
      [],
    )
  expect(() => withNewKey(long, { key: keys[8]!, ...at(8) }, startMs)).toThrow(
    /has 8 keys and all are valid/,
  )
})

test('a list names the key and whether it must sign; what is neither is refused with its line', () => {
  const options = {
    area: 'Ikeja',
    cadenceSeconds: undefined,
    nowMs: startMs,
    idPrefix: 'NGR-LOS',
    deviceKeyOf,
  }
  const read = (key: string, signature: string) =>
    sensorsFromCsv(
      `id,lat,lon,public_key,signature\nNGR-LOS-IKJ-001,6.6,3.3,${key},${signature}\n`,
      options,
    )[0]?.entry
  const { publicKey } = keys[0]!
  expect(read(publicKey, 'required')).toMatchObject({
    keys: [{ algorithm: 'ed25519', public_key: publicKey, from: '2026-01-01T00:00:00Z' }],
    signature: 'required',
  })
  expect(read('', '')).not.toHaveProperty('keys')
  expect(() => read('', 'yes')).toThrow(
    /line 2: a signature is required or optional, and not "yes"/,
  )
  expect(() => read('AAAA', '')).toThrow(/line 2: the public key "AAAA": a public key is PEM/)
  expect(() => read('', 'required')).toThrow(/line 2: .*no public key to check it with/)
})
