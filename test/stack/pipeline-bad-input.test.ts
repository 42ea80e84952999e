import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namesOf } from '../../core/air/quality.ts'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import type { RefusalReason } from '../../core/state/log-message.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { mostKeptOfOne, slack } from '../../pipeline/copies/rejected-bound.ts'
import { rejectedOf, rejectedStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import {
  entryOf,
  type Outcome,
  sha256,
  type TestPipeline,
  testPipeline,
} from '../support/pipeline.ts'

let pipeline: TestPipeline
beforeAll(async () => {
  pipeline = await testPipeline()
})
afterAll(async () => {
  await pipeline[Symbol.asyncDispose]()
})

let sensors = 0
/** A sensor of its own for each test, registered unless it is to be a stranger. */
async function newSensor(): Promise<string> {
  const id = `NGR-LOS-BAD-${String(++sensors).padStart(4, '0')}`
  await pipeline.register(entryOf(id))
  return id
}

const nowMs = Date.now()
const at = (ms: number): string => new Date(ms).toISOString()
const good = (over: object = {}) => ({ timestamp: at(nowMs), pm25: 18.5, pm10: 32, ...over })
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const sumOf = ({ accepted, duplicates, refused }: Outcome): number =>
  accepted.length + duplicates + refused.length

/** Publishes one body; what became of it, and whether it was kept as it was sent. */
async function fateOf(body: unknown) {
  const sensor = await newSensor()
  const bytes =
    body instanceof Uint8Array
      ? body
      : encode(typeof body === 'string' ? body : JSON.stringify(body))
  const sent = await pipeline.publish(sensor, bytes)
  const outcome = await pipeline.outcomeOf(sensor)
  const [refused] = outcome.refused
  if (refused === undefined) return { accepted: outcome.accepted.length }
  const kept = await pipeline.kept(refused, sent.partition)
  return {
    reason: refused.reason,
    accepted: outcome.accepted.length,
    isOne: sumOf(outcome) === 1 && refused.rawSeq === sent.seq && kept.sensor === sensor,
    isWhole: kept.length === bytes.length && kept.sha256 === sha256(bytes),
    isKept: Buffer.compare(kept.data, bytes.subarray(0, 64 * 1024)) === 0,
    isDated: Math.abs(kept.arrivedMs - Date.now()) < 5 * minuteMs,
  }
}

describe('refused, and kept with all its bytes', () => {
  const brackets = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  test.each<[string, RefusalReason, () => unknown]>([
    ['not JSON', 'not_json', () => 'temperature is fine'],
    ['nothing', 'not_json', () => ''],
    ['not UTF-8', 'not_json', () => Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)],
    ['NaN', 'not_json', () => `{"timestamp":"${at(nowMs)}","pm25":NaN}`],
    ['line breaks that would end a header', 'not_json', () => '\r\nNats-Msg-Id: 1\r\n\u0000é'],
    ['an array of none', 'empty', () => '[]'],
    ['an array of 501', 'too_many', () => Array.from({ length: 501 }, () => good())],
    ['129 KiB of JSON', 'too_large', () => good({ note: 'x'.repeat(132_000) })],
    ['66,000 brackets', 'too_large', () => brackets(66_000)],
    ['60,000 brackets', 'schema', () => `{"timestamp":1,"x":${brackets(60_000)}}`],
    ['1e400', 'schema', () => `{"timestamp":"${at(nowMs)}","pm25":1e400}`],
    ['a text for a number', 'schema', () => good({ pm25: '18.5' })],
    ['no timestamp', 'schema', () => ({ pm25: 1 })],
    ['29 February of no leap year', 'schema', () => good({ timestamp: '2025-02-29T12:00:00Z' })],
    ['no offset', 'no_offset', () => good({ timestamp: '2026-01-15T10:30:00' })],
    ['1970', 'too_old', () => good({ timestamp: '1970-01-01T00:00:00Z' })],
    ['ten minutes ahead', 'future', () => good({ timestamp: at(Date.now() + 10 * minuteMs) })],
    ['−200 °C alone', 'out_of_range', () => ({ timestamp: at(nowMs), temperature: -200 })],
    ['another sensor named', 'sensor_mismatch', () => good({ sensor_id: 'NGR-LOS-BAD-9999' })],
  ])('%s: %s', async (_, reason, body) => {
    expect(await fateOf(body())).toEqual({
      reason,
      accepted: 0,
      isOne: true,
      isWhole: true,
      isKept: true,
      isDated: true,
    })
  })

  test('60,000 brackets as an item of an array', async () => {
    const sensor = await newSensor()
    const sent = await pipeline.publish(sensor, `[${brackets(60_000)},${JSON.stringify(good())}]`)
    const { accepted, refused } = await pipeline.outcomeOf(sensor)
    expect([accepted.length, refused.length]).toEqual([1, 1])
    const kept = await pipeline.kept(refused[0]!, sent.partition)
    expect(kept).toMatchObject({ length: 120_000, sha256: sha256(encode(brackets(60_000))) })
    expect(kept.data).toHaveLength(64 * 1024)
  })
})

test('what is much longer NATS itself refuses, and tells it to the sensor', async () => {
  const sensor = await newSensor()
  const long = good({ note: 'x'.repeat(140_000) })
  await expect(pipeline.publish(sensor, long)).rejects.toThrow(/message size exceeds maximum/)
  await pipeline.publish(sensor, good())
  expect((await pipeline.outcomeOf(sensor)).accepted).toHaveLength(1)
})

test('a body with fields of our own words is an ordinary reading', async () => {
  const sensor = await newSensor()
  await pipeline.publish(sensor, good({ reason: 'scheduled', why: null, items: [1], rawSeq: 7 }))
  const { accepted, refused } = await pipeline.outcomeOf(sensor)
  expect([accepted.length, refused]).toEqual([1, []])
})

test('a sensor nobody registered is refused, and its bytes wait for whoever registers it', async () => {
  const stranger = 'NGR-LOS-NEW-001'
  const body = JSON.stringify(good())
  const sent = await pipeline.publish(stranger, body)
  const { refused } = await pipeline.outcomeOf(stranger)
  expect(refused).toMatchObject([{ reason: 'unknown_sensor', sensor: stranger }])
  expect(textOf((await pipeline.kept(refused[0]!, sent.partition)).data)).toBe(body)
})

test('a sensor that was retired is unknown like one that never was', async () => {
  const retired = 'NGR-LOS-OLD-001'
  const entry = {
    id: retired,
    cadence_seconds: 300,
    sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: '' }],
    created_at: '2020-01-01T00:00:00Z',
  }
  await pipeline.register({ ...entry, retired_at: '2026-01-31T08:00:00Z' })
  await pipeline.publish(retired, JSON.stringify(good()))
  const { accepted, refused } = await pipeline.outcomeOf(retired)
  expect([accepted.length, refused]).toMatchObject([0, [{ reason: 'unknown_sensor' }]])
})

test('a sensor registered right before its reading is known', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `NGR-LOS-NOW-${String(i).padStart(3, '0')}`)
  for (const id of ids) {
    await pipeline.register(entryOf(id))
    await pipeline.publish(id, good())
  }
  const log = await pipeline.judged()
  const heard = log.flatMap(({ readings }) => readings.map(({ sensor }) => sensor as string))
  expect(ids.filter((id) => !heard.includes(id))).toEqual([])
})

test('what is published into another partition than its own is refused there', async () => {
  const sensor = await newSensor()
  const wrong = (partitionOf(sensor) + 1) % 16
  const sent = await pipeline.publish(sensor, good(), { partition: wrong })
  const { accepted, refused } = await pipeline.outcomeOf(sensor)
  expect([accepted, refused]).toMatchObject([[], [{ reason: 'wrong_partition' }]])
  expect((await pipeline.kept(refused[0]!, wrong)).length).toBe(JSON.stringify(good()).length)
  expect(sent.partition).toBe(wrong)
})

test('one bad item costs an array nothing else, and is kept byte for byte', async () => {
  const sensor = await newSensor()
  const items = [
    JSON.stringify(good()),
    `{"timestamp":"${at(nowMs + 1)}", "pm25":1e400}`,
    ' 5 ',
    JSON.stringify(good({ timestamp: at(nowMs + 2) })),
  ]
  const sent = await pipeline.publish(sensor, ` [${items.join(',')}]`)
  const outcome = await pipeline.outcomeOf(sensor)
  expect(outcome.accepted.map(({ timeMs }) => timeMs)).toEqual([nowMs, nowMs + 2])
  expect(outcome.refused.map(({ item, reason }) => [item, reason])).toEqual([
    [1, 'schema'],
    [2, 'schema'],
  ])
  const kept = await Promise.all(
    outcome.refused.map(async (one) => textOf((await pipeline.kept(one, sent.partition)).data)),
  )
  expect(kept).toEqual([items[1], '5'])
})

test('an array of 500 bad items is 500 refusals, each with its own bytes', async () => {
  const sensor = await newSensor()
  const items = Array.from({ length: 500 }, (_, i) => ({ timestamp: `never ${i}` }))
  const sent = await pipeline.publish(sensor, items)
  const { refused } = await pipeline.outcomeOf(sensor)
  expect(refused.map(({ item }) => item)).toEqual(items.map((_, i) => i))
  const last = await pipeline.kept(refused[499]!, sent.partition)
  expect(textOf(last.data)).toBe(JSON.stringify(items[499]))
})

test('a value that cannot be is dropped, the reading counts and its bytes are kept', async () => {
  const sensor = await newSensor()
  const body = good({ temperature: -200, pm10: 1_999.9 })
  const sent = await pipeline.publish(sensor, body)
  const outcome = await pipeline.outcomeOf(sensor)
  expect(outcome.accepted).toMatchObject([{ values: valuesOf({ pm25: 1_850 }), aqi: 69 }])
  expect(namesOf(outcome.accepted[0]!.flags)).toEqual(['dropped_pm10', 'dropped_temperature'])
  expect([outcome.refused, outcome.partials]).toMatchObject([[], [{ reason: 'partial' }]])
  const kept = await pipeline.kept(outcome.partials[0]!, sent.partition)
  expect(textOf(kept.data)).toBe(JSON.stringify(body))
})

test('PM of 999.9 is believed, and flagged as the ceiling of its sensor: it raises no alert', async () => {
  const sensor = await newSensor()
  await pipeline.publish(sensor, good({ pm25: 999.9, pm10: 999.9 }))
  const { accepted, events } = await pipeline.outcomeOf(sensor)
  expect(accepted).toMatchObject([{ values: valuesOf({ pm25: 99_990, pm10: 99_990 }), aqi: 500 }])
  expect(namesOf(accepted[0]!.flags)).toEqual(['pm_high', 'pm_saturated'])
  expect(events.map(({ kind }) => kind).toSorted()).toEqual(['online', 'quality'])
})

test('humidity of 99.9 for hours is flagged from the 24th on', async () => {
  const sensor = await newSensor()
  const items = Array.from({ length: 30 }, (_, i) =>
    good({ timestamp: at(nowMs - (30 - i) * 5 * minuteMs), humidity: 99.9 }),
  )
  for (const item of items) await pipeline.publish(sensor, item)
  const { accepted } = await pipeline.outcomeOf(sensor)
  const stuck = accepted.map(({ flags }) => namesOf(flags).includes('humidity_stuck'))
  expect(stuck).toEqual(items.map((_, i) => i >= 23))
})

test('exact repeats are only counted, contradictions are kept, early and late', async () => {
  const sensor = await newSensor()
  const early = { timestamp: at(nowMs - 20 * minuteMs), pm25: 10 }
  const late = { timestamp: at(nowMs - 10 * minuteMs), pm25: 20 }
  const conflicts = [
    { ...early, pm25: 11 },
    { ...late, pm25: 21 },
    { ...late, co2: 400 },
  ]
  const sent = [early, late, early, late, late, { ...late, pm25: 20.001 }, ...conflicts]
  for (const body of sent) await pipeline.publish(sensor, body)
  const outcome = await pipeline.outcomeOf(sensor)
  expect(outcome.accepted.map(({ values: [pm25] }) => pm25)).toEqual([1_000, 2_000])
  expect(outcome.duplicates).toBe(4)
  expect(outcome.refused.map(({ reason }) => reason)).toEqual(Array(3).fill('conflict'))
  expect(sumOf(outcome)).toBe(sent.length)
  const kept = await Promise.all(
    outcome.refused.map(async (one) =>
      textOf((await pipeline.kept(one, partitionOf(sensor))).data),
    ),
  )
  expect(kept.toSorted()).toEqual(conflicts.map((body) => JSON.stringify(body)).toSorted())
})

test('clocks that run backwards lose nothing', async () => {
  const sensor = await newSensor()
  const times = Array.from({ length: 60 }, (_, i) => nowMs - i * minuteMs)
  for (const timeMs of times) await pipeline.publish(sensor, good({ timestamp: at(timeMs) }))
  const { accepted, refused, duplicates } = await pipeline.outcomeOf(sensor)
  expect(accepted).toHaveLength(times.length)
  expect(new Set(accepted.map(({ timeMs }) => timeMs))).toEqual(new Set(times))
  expect([refused, duplicates]).toEqual([[], 0])
})

test('days back-filled in arrays of 500, a year old and sent twice, are each accepted once', async () => {
  const sensor = await newSensor()
  const yearAgoMs = nowMs - 365 * dayMs
  const times = Array.from({ length: 2_000 }, (_, i) => yearAgoMs + i * 5 * minuteMs)
  await pipeline.publish(sensor, good())
  for (const _ of ['once', 'again']) {
    for (let from = 0; from < times.length; from += 500) {
      const some = times.slice(from, from + 500)
      await pipeline.publish(
        sensor,
        some.map((timeMs) => good({ timestamp: at(timeMs) })),
      )
    }
  }
  const outcome = await pipeline.outcomeOf(sensor)
  expect(new Set(outcome.accepted.map(({ timeMs }) => timeMs))).toEqual(new Set([nowMs, ...times]))
  expect(outcome.accepted).toHaveLength(2_001)
  expect(outcome.duplicates).toBe(2_000)
  expect(outcome.events.map(({ kind }) => kind)).toEqual(['online'])
})

test('a sensor that moves: each reading has the area where it stood when it measured', async () => {
  const sensor = 'NGR-LOS-MOV-001'
  const site = { lat: 6.5, lon: 3.4, address: '1 Road' }
  const sites = [
    { ...site, from: '2020-01-01T00:00:00Z', area: 'Ikeja' },
    { ...site, from: at(nowMs - dayMs), area: 'Yaba' },
  ]
  await pipeline.register(entryOf(sensor, { sites }))
  await pipeline.publish(sensor, good())
  await pipeline.publish(sensor, good({ timestamp: at(nowMs - 2 * dayMs) }))
  const { accepted } = await pipeline.outcomeOf(sensor)
  expect(accepted.map(({ area }) => area)).toEqual(['Yaba', 'Ikeja'])
})

test('ten thousand sensors appear at once', async () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `NGR-LOS-TEN-${String(i).padStart(5, '0')}`)
  await pipeline.register(...ids.map((id) => entryOf(id)))
  const body = JSON.stringify(good({ pm25: 200, temperature: 141 }))
  for (let from = 0; from < ids.length; from += 1_000) {
    await Promise.all(ids.slice(from, from + 1_000).map((id) => pipeline.publish(id, body)))
  }
  const log = await pipeline.judged()
  const accepted = log.flatMap(({ readings }) => readings.map(({ sensor }) => sensor as string))
  const wanted = new Set(ids)
  expect(accepted.filter((id) => wanted.has(id)).toSorted()).toEqual(ids)
  const online = log.flatMap(({ events, readings }) =>
    events
      .filter(({ kind }) => kind === 'online')
      .map((event) => ('place' in event ? readings[event.place]?.sensor : undefined)),
  )
  expect(online.filter((id) => id !== undefined && wanted.has(id))).toHaveLength(ids.length)
})

test('of all that these tests sent, everything was accepted, counted or kept', async () => {
  const log = await pipeline.judged()
  const refused = log.flatMap((message) => message.refused)
  const outcomes = {
    accepted: log.reduce((sum, { readings }) => sum + readings.length, 0),
    duplicate: log
      .flatMap(({ duplicates }) => duplicates)
      .reduce((sum, [, count]) => sum + count, 0),
    refused: refused.filter(({ reason }) => reason !== 'partial').length,
  }
  expect(outcomes.accepted + outcomes.duplicate + outcomes.refused).toBe(pipeline.sentCount())
  expect(outcomes.refused).toBeGreaterThan(500)
  const { state } = await (await jetstreamManager(pipeline.nc)).streams.info(rejectedStream)
  expect(state.num_subjects).toBe(refused.length)
  const accepted = await pipeline.metric('airproof_readings_total', 'outcome="accepted"')
  expect(accepted).toBe(outcomes.accepted)
})

test('of one sensor the newest thousand or so are kept, and another’s evidence stays', async () => {
  const [other, sensor] = [await newSensor(), await newSensor()]
  const { partition } = await pipeline.publish(other, '{"mine')
  const [kept] = (await pipeline.outcomeOf(other)).refused
  const bad = Array.from({ length: 500 }, (_, i) => ({ n: i }))
  for (let i = 0; i < 4; i++) await pipeline.publish(sensor, bad)
  const { refused } = await pipeline.outcomeOf(sensor)
  expect(refused).toHaveLength(2_000)
  const manager = await jetstreamManager(pipeline.nc)
  const subjects = async (of: string): Promise<readonly string[]> => {
    const filter = { subjects_filter: rejectedOf(of) }
    return Object.keys((await manager.streams.info(rejectedStream, filter)).state.subjects ?? {})
  }
  const last = refused.map(({ rawSeq }) => rawSeq).reduce((a, b) => Math.max(a, b))
  const left = await eventually('the newest are copied, and the rest is trimmed', async () => {
    const found = await subjects(sensor)
    const newest = found.filter((subject) => subject.includes(`.${last}.`))
    return newest.length === 500 && found.length <= mostKeptOfOne + slack ? found : undefined
  })
  expect(left.length).toBeGreaterThanOrEqual(mostKeptOfOne)
  expect(textOf((await pipeline.kept(kept!, partition)).data)).toBe('{"mine')
})

test('a sensor that is refused without end does not stop its partition', async () => {
  const [other, sensor] = [await newSensor(), await newSensor()]
  const bad = Array.from({ length: 500 }, () => 1)
  for (let i = 0; i < 40; i++) await pipeline.publish(sensor, bad)
  const { refused } = await pipeline.outcomeOf(sensor)
  expect(refused).toHaveLength(20_000)
  await pipeline.publish(other, good())
  expect((await pipeline.outcomeOf(other)).accepted).toHaveLength(1)
  const count = await pipeline.metric('airproof_rejected_not_kept_total', '')
  expect(count).toBeGreaterThan(15_000)
  expect(count).toBeLessThanOrEqual(16_000)
})
