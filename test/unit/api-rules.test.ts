import { expect, test } from 'vitest'
import { createKeyGuard, type KnownKey, parseKnownKey } from '../../api/access/key-guard.ts'
import { expectedReadings } from '../../api/areas/expected-readings.ts'
import { areaDirectory } from '../../api/live/area-directory.ts'
import { createReadingTexts, type OnChain, readingJson } from '../../api/live/reading-json.ts'
import { distanceM } from '../../api/live/region.ts'
import { usualView } from '../../api/live/view.ts'
import { watchFreshness } from '../../api/live/watch-freshness.ts'
import { apiKeyPrefix, makeKey } from '../../core/access/api-key.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { eventually } from '../support/eventually.ts'
import { readingOf } from '../support/readings.ts'
import { outlineOf } from '../support/registered-view.ts'

const keccak = await createKeccak()

const site = (area: string, fromMs = 0) => ({ area, fromMs, lat: 6.5, lon: 3.4, address: '' })
const sensor = (id: string, ...areas: string[]): RegisteredSensor => ({
  id: id as SensorId,
  cadenceMs: 5 * minuteMs,
  sites: [site(areas[0] ?? ''), ...areas.slice(1).map((area, i) => site(area, (i + 1) * dayMs))],
})

test('each area has one code and each code one area, the one with most sensors that carry it', () => {
  const options = { networkName: 'Lagos', idPrefix: 'NGR-LOS' }
  const { areas, find, network } = areaDirectory(
    outlineOf([
      sensor('NGR-LOS-IKJ-001', 'Ikeja'),
      sensor('NGR-LOS-IKJ-002', 'Ikeja'),
      sensor('NGR-LOS-IKJ-003', 'Yaba'),
      sensor('NGR-LOS-YAB-001', 'Yaba'),
      sensor('NGR-LOS-IKJ-004', 'Ìkòyí', 'Ikeja'),
    ]),
    options,
  )
  expect(areas.map(({ name, code, slug }) => [name, code, slug])).toEqual([
    ['Ikeja', 'IKJ', 'ikeja'],
    ['Yaba', 'YAB', 'yaba'],
    ['Ìkòyí', null, 'ikoyi'],
  ])
  expect(find('ikj')?.name).toBe('Ikeja')
  expect(find('IKOYI')?.name).toBe('Ìkòyí')
  expect([find('lagos'), find('LOS')]).toEqual([network, network])
  expect(find('nowhere')).toBeUndefined()
})

test('a sensor that moves is expected in each area for as long as it was there', () => {
  const moved = [sensor('NGR-LOS-IKJ-001', 'Ikeja', 'Yaba')]
  const period = { fromMs: dayMs - hourMs, toMs: dayMs + 2 * hourMs }
  expect(expectedReadings(moved, 'Ikeja', period)).toBe(12)
  expect(expectedReadings(moved, 'Yaba', period)).toBe(24)
  expect(expectedReadings(moved, undefined, period)).toBe(36)
})

test('a degree of latitude is 111 km, and of longitude half of that at 60 degrees', () => {
  expect(distanceM(0, 0, 1, 0) / 1000).toBeCloseTo(111.2, 1)
  expect(distanceM(60, 0, 60, 1) / 1000).toBeCloseTo(55.6, 1)
})

test('an index above the table is 500 and marked as such', () => {
  const reading = readingOf({
    sensor: 'NGR-LOS-IKJ-001' as SensorId,
    area: 'Ikeja',
    timeMs: 1_500,
    pm25: 99_990,
    temperature: -50,
    aqi: 500,
    flags: 0,
    seq: 1,
  })
  expect(
    readingJson(reading, usualView, {
      hashOf: () => '0x',
      onChainOf: () => ({ verified: false, tx_hash: null, status: 'pending' }),
    }),
  ).toMatchObject({
    timestamp: '1970-01-01T00:00:01.500Z',
    aqi: 500,
    aqi_category: 'hazardous',
    beyond_index: true,
    pm25: 999.9,
    temperature: -0.5,
  })
})

test.each<OnChain>([
  { verified: false, tx_hash: null, status: 'pending' },
  { verified: true, tx_hash: '0xab', status: 'verified' },
])('the text of a reading that is $status is its JSON, also the second time', (onChain) => {
  const reading = readingOf({ pm25: 1_240, aqi: 57 })
  const texts = createReadingTexts(keccak, () => onChain)
  const json = JSON.stringify(readingJson(reading, usualView, texts))
  expect([texts.textOf(reading, usualView), texts.textOf(reading, usualView)]).toEqual([json, json])
})

test('a key is valid to the last millisecond before it expires', () => {
  const text = makeKey(apiKeyPrefix, new Uint8Array(64))
  const key: KnownKey = {
    id: 'k',
    account: 'a',
    name: 'n',
    hint: '',
    expiresMs: 1_000,
    isRevoked: false,
    isInternal: false,
  }
  const sent = { authorization: `Bearer ${text}` }
  const at = (nowMs: number, staleMs = 0) =>
    createKeyGuard({
      find: () => key,
      hasAccount: () => true,
      staleMs: () => staleMs,
      nowMs: () => nowMs,
    })
  expect(at(999)(sent)).toMatchObject({ key: 'k', account: 'a', isInternal: false })
  expect(() => at(1_000)(sent)).toThrow(expect.objectContaining({ code: 'expired_key' }))
  expect(at(0, 2_000)(sent).key).toBe('k')
  expect(() => at(0, 2_001)(sent)).toThrow(expect.objectContaining({ status: 503 }))
})

test('only the dashboard’s own key acts for another account, and only for one that exists', () => {
  const text = makeKey(apiKeyPrefix, new Uint8Array(64))
  const ask = (record: object, headers: object) => {
    const key = parseKnownKey({
      id: 'k',
      account: 'acc_own',
      expires_at: '2026-01-01T00:00:00Z',
      ...record,
    })
    const guard = createKeyGuard({
      find: () => key,
      hasAccount: (account) => ['acc_own', 'acc_other'].includes(account),
      staleMs: () => 0,
      nowMs: () => 0,
    })
    return guard({ authorization: `Bearer ${text}`, ...headers }).account
  }
  const other = { 'airproof-account': 'acc_other' }
  expect(ask({ internal: true }, other)).toBe('acc_other')
  expect(ask({ internal: true }, {})).toBe('acc_own')
  for (const internal of [undefined, false, 'true', 1, null]) {
    expect(ask({ internal }, other)).toBe('acc_own')
  }
  for (const given of ['acc_none', '', 'acc_other, acc_own', ['acc_other', 'acc_own']]) {
    expect(() => ask({ internal: true }, { 'airproof-account': given })).toThrow(
      expect.objectContaining({ status: 401, code: 'unknown_account' }),
    )
  }
  expect(() => ask({ internal: true, revoked_at: '2025-01-01T00:00:00Z' }, other)).toThrow(
    expect.objectContaining({ code: 'revoked_key' }),
  )
})

test('the copy grows stale while a barrier hangs, until the next one answers', async () => {
  let nowMs = 0
  let hanging: PromiseWithResolvers<void> | undefined
  let checks = 0
  await using freshness = await watchFreshness({
    barrier: () => {
      if (hanging !== undefined) checks++
      return hanging?.promise ?? Promise.resolve()
    },
    everyMs: 1,
    clockMs: () => nowMs,
  })
  const lost = Promise.withResolvers<void>()
  hanging = lost
  nowMs = 5_000
  await eventually('a check hangs', () => checks > 0)
  expect(freshness.staleMs()).toBe(5_000)
  hanging = undefined
  lost.reject(new Error('timed out'))
  await eventually('the copy is fresh again', () => freshness.staleMs() === 0)
  nowMs = 5_001
  expect(freshness.staleMs()).toBeLessThan(2)
})

test('a caller that finds the copy old has it checked now, and does not wait for ever', async () => {
  let nowMs = 0
  let barrier = (): Promise<void> => Promise.resolve()
  await using freshness = await watchFreshness({
    barrier: () => barrier(),
    // no check by itself
    everyMs: 1_000_000,
    clockMs: () => nowMs,
  })
  nowMs = 9_000
  await freshness.confirm(60_000)
  expect(freshness.staleMs()).toBe(0)
  nowMs = 18_000
  let asked = 0
  barrier = () => {
    asked++
    return Promise.withResolvers<void>().promise
  }
  await Promise.all([freshness.confirm(10), freshness.confirm(10)])
  expect([freshness.staleMs(), asked]).toEqual([9_000, 1])
})
