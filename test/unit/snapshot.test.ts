import { assert, integer, property, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createHeard, hear } from '../../core/state/apply-reading.ts'
import {
  createState,
  type PartitionState,
  plainState,
  slotOf,
} from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { decodeSnapshot, encodeSnapshot, type RefusedKey } from '../../schemas/log/snapshot.ts'
import { largestChunk, readPrefix } from '../../schemas/log/snapshot-chunks.ts'
import { histories, lived } from '../support/random-history.ts'
import { readingOf, sensorNamed } from '../support/small-worker.ts'

const positions = { store: 11, events: 12, rejected: 13 }
const refusedKeys: readonly RefusedKey[] = [[sensorNamed(7), 1_700_000_000_000]]

/** Enough sensors for several chunks. */
function city(sensors: number): PartitionState {
  const state = createState(9)
  for (let number = 0; number < sensors; number++) {
    const sensor = sensorNamed(number)
    const reading = readingOf(number * minuteMs, { sensor, pm25: number })
    hear(state, slotOf(state, sensor), reading, number, createHeard())
  }
  state.readingsSeq = 2 ** 33
  return state
}

describe('a snapshot', () => {
  test('comes back whole, with its positions and refused keys', () => {
    assert(
      property(histories, (history) => {
        const { state } = lived(history)
        const decoded = decodeSnapshot(encodeSnapshot(state, positions, refusedKeys))
        expect(decoded && plainState(decoded.state)).toEqual(plainState(state))
        expect(decoded).toMatchObject({ positions, refusedKeys })
      }),
    )
  })

  test('of a partition without sensors comes back too, and takes sensors', () => {
    const decoded = decodeSnapshot(encodeSnapshot(createState(2), positions, []))
    expect(decoded && plainState(decoded.state)).toEqual(plainState(createState(2)))
    expect(decoded && [1, 2, 3].map((n) => slotOf(decoded.state, sensorNamed(n)))).toEqual([
      0, 1, 2,
    ])
  })

  test('names partition, sequence, number and count in every chunk of at most 512 KiB', () => {
    const chunks = encodeSnapshot(city(5_000), positions, [])
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
    const scattered = encodeSnapshot(state, positions, [])
      .toReversed()
      .map((chunk) => new Uint8Array([0, 0, 0, ...chunk]).subarray(3))
    const decoded = decodeSnapshot(scattered)
    expect(decoded && plainState(decoded.state)).toEqual(plainState(state))
  })
})

describe('chunks that are not one whole snapshot are not read:', () => {
  const chunks = encodeSnapshot(city(5_000), positions, [])
  const moved = encodeSnapshot(city(5_000), { ...positions, store: 14 }, [])
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
    const [whole = new Uint8Array()] = encodeSnapshot(state, positions, refusedKeys)
    assert(
      property(
        integer({ min: 0, max: whole.length - 1 }),
        integer({ min: 1, max: 255 }),
        (at, by) => {
          const torn = Uint8Array.from(whole)
          torn[at] = (torn[at] ?? 0) ^ by
          expect(decodeSnapshot([torn])).toBeUndefined()
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
