import { assert, integer, property, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapQuantities } from '../../core/air/quantities.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { mostValues, valuesOf } from '../../core/air/values.ts'
import { applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import {
  createState,
  newestOf,
  type PartitionState,
  plainState,
  slotOf,
} from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { decodeSnapshot, encodeSnapshot, type RefusedKey } from '../../schemas/log/snapshot.ts'
import { cutBody, largestChunk, readPrefix } from '../../schemas/log/snapshot-chunks.ts'
import fixture from '../fixtures/formats-0.1.json' with { type: 'json' }
import { histories, lived } from '../support/random-history.ts'
import { type Over, readingOf as plainReading } from '../support/readings.ts'
import { readingOf, sensorNamed } from '../support/small-worker.ts'

const startMs = Date.UTC(2026, 0, 15)
const readingOf01 = (over: Over) => plainReading({ timeMs: startMs, seq: seqOf(3, 1), ...over })
const positions = { store: 11, events: 12, rejected: 13 }
const refusedKeys: readonly RefusedKey[] = [[sensorNamed(7), 1_700_000_000_000]]

/** Enough sensors for several chunks. */
function city(sensors: number): PartitionState {
  const state = createState(9)
  for (let number = 0; number < sensors; number++) {
    const sensor = sensorNamed(number)
    const reading = readingOf(number * minuteMs, { sensor, pm25: number })
    applyNewer(state, slotOf(state, sensor), reading, number, createOutcome())
  }
  state.readingsSeq = 2 ** 33
  return state
}

describe('a snapshot', () => {
  test('is read back completely, with its positions and refused keys', () => {
    assert(
      property(histories, (history) => {
        const { state } = lived(history)
        const decoded = decodeSnapshot(encodeSnapshot(state, positions, refusedKeys, newestLevel))
        expect(decoded && plainState(decoded.state)).toEqual(plainState(state))
        expect(decoded).toMatchObject({ positions, refusedKeys })
      }),
    )
  })

  test('of a partition without sensors is read back too, and accepts sensors', () => {
    const decoded = decodeSnapshot(encodeSnapshot(createState(2), positions, [], newestLevel))
    expect(decoded && plainState(decoded.state)).toEqual(plainState(createState(2)))
    expect(decoded && [1, 2, 3].map((n) => slotOf(decoded.state, sensorNamed(n)))).toEqual([
      0, 1, 2,
    ])
  })

  test('names partition, sequence, number and count in every chunk of at most 512 KiB', () => {
    const chunks = encodeSnapshot(city(5_000), positions, [], newestLevel)
    expect(chunks.length).toBeGreaterThan(1)
    expect(chunks.map((chunk) => readPrefix(chunk))).toEqual(
      chunks.map((_, number) =>
        expect.objectContaining({
          partition: 9,
          readingsSeq: 2 ** 33,
          number,
          count: chunks.length,
        }),
      ),
    )
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(largestChunk)
  })

  test('is read from chunks in any order, wherever they lie in memory', () => {
    const state = city(5_000)
    const scattered = encodeSnapshot(state, positions, [], newestLevel)
      .toReversed()
      .map((chunk) => new Uint8Array([0, 0, 0, ...chunk]).subarray(3))
    const decoded = decodeSnapshot(scattered)
    expect(decoded && plainState(decoded.state)).toEqual(plainState(state))
  })
})

/** A wrong byte in the version cannot be distinguished from a later version. */
function readOrNewer(chunk: Uint8Array) {
  try {
    return decodeSnapshot([chunk])
  } catch (error) {
    if (error instanceof NewerFormat) return undefined
    throw error
  }
}

describe('versions of a snapshot', () => {
  const written = Buffer.from(fixture.snapshot, 'base64')

  test('one that 0.1 wrote is read, and its rows are widened', () => {
    const { state, ...rest } = decodeSnapshot([written])!
    expect(rest).toEqual({
      positions: { store: 7, events: 8, rejected: 9 },
      refusedKeys: [['NGR-LOS-IKJ-001', startMs - 1]],
    })
    expect(newestOf(state, 0)).toEqual(
      readingOf01({ pm25: 1_850, pm10: 3_000, temperature: -150, humidity: 7_000, aqi: 69 }),
    )
    expect(newestOf(state, 1)).toEqual(
      readingOf01({
        sensor: 'NGR-LOS-YAB-002' as SensorId,
        area: 'Yaba',
        timeMs: startMs + 1_000,
        co2: 41_200,
        flags: 256,
        seq: seqOf(3, 2),
      }),
    )
  })

  test('at format level 1 the same bytes are written, and nothing but the basic five', () => {
    const { state, positions: at, refusedKeys: keys } = decodeSnapshot([written])!
    expect(Buffer.from(encodeSnapshot(state, at, keys, 1)[0]!)).toEqual(written)
  })

  test('at format level 2 every quantity is in it', () => {
    const state = createState(1)
    const values = valuesOf(mapQuantities((_, id) => 100 + id))
    const reading = { ...readingOf(startMs), values }
    applyNewer(state, slotOf(state, reading.sensor), reading, seqOf(1, 1), createOutcome())
    const read = (level: 1 | 2) =>
      newestOf(decodeSnapshot(encodeSnapshot(state, positions, [], level))!.state, 0)?.values
    expect(read(2)).toEqual(values)
    expect(read(1)).toEqual(values.slice(0, 5))
  })

  test('one of a later version, or of more quantities, is refused by an error that says what to do', () => {
    const later = Uint8Array.from(written)
    later[3] = '3'.charCodeAt(0)
    expect(() => decodeSnapshot([later])).toThrow(/snapshot of a partition is of version 3, and/)
    const chunks = encodeSnapshot(createState(1), positions, [], 2)
    const text = Buffer.from(chunks[0]!).toString('latin1')
    const { partition, readingsSeq } = readPrefix(chunks[0]!)!
    const body = Buffer.from(
      text.slice(36).replace(`"values":${mostValues}`, `"values":${mostValues + 1}`),
      'latin1',
    )
    const wider = cutBody({ version: 2, partition, readingsSeq, bytes: Uint8Array.from(body) })
    expect(() => decodeSnapshot(wider)).toThrow(
      `a snapshot of a partition has ${mostValues + 1} quantities, and this airproof knows ${mostValues}`,
    )
  })
})

describe('chunks that are not one complete snapshot are not read:', () => {
  const chunks = encodeSnapshot(city(5_000), positions, [], newestLevel)
  const moved = encodeSnapshot(city(5_000), { ...positions, store: 14 }, [], newestLevel)
  const [first = new Uint8Array(), ...rest] = chunks

  test.each([
    ['none', []],
    ['one is missing', rest],
    ['one is there twice', [first, first, ...rest.slice(1)]],
    ['one is left over', [...chunks, first]],
    ['one is torn', [first.subarray(0, -1), ...rest]],
    ['one is empty', [new Uint8Array(), ...rest]],
    ['one is of another snapshot at the same sequence', [...moved.slice(0, 1), ...rest]],
    ['one is something else', [new TextEncoder().encode('x'.repeat(first.length)), ...rest]],
  ])('%s', (_, broken) => {
    expect(decodeSnapshot(broken)).toBeUndefined()
  })

  test('one byte is another', () => {
    const state = city(20)
    const [whole = new Uint8Array()] = encodeSnapshot(state, positions, refusedKeys, newestLevel)
    assert(
      property(
        integer({ min: 0, max: whole.length - 1 }),
        integer({ min: 1, max: 255 }),
        (at, by) => {
          const torn = Uint8Array.from(whole)
          torn[at] = (torn[at] ?? 0) ^ by
          expect(readOrNewer(torn)).toBeUndefined()
        },
      ),
    )
    expect(decodeSnapshot([whole])).toBeDefined()
  })

  test('they are any bytes', () => {
    assert(
      property(uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeSnapshot([bytes])).toBeUndefined()
      }),
    )
  })
})
