/** A million entries as bytes: they are what a Map of the same entries is, whatever is done to them. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type EntryKind,
  entryKinds,
  PackedEntries,
  type PackedEntry,
} from '../../runtime/nats/buckets/packed-entries.ts'
import { plainSensor } from '../../schemas/devices/sensor.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

type Row = { readonly kind: EntryKind; readonly timeMs: number; readonly text: string }

/** All of it, by key. */
function contentOf(entries: PackedEntries): Map<string, Row> {
  const content = new Map<string, Row>()
  for (let row = 0; row < entries.rows; row++)
    content.set(entries.keyOf(row), {
      kind: entries.kindOf(row),
      timeMs: entries.timeMsOf(row),
      text: entries.textOf(row),
    })
  return content
}

const fill = (entries: PackedEntries, sets: readonly PackedEntry[]): Map<string, Row> => {
  const model = new Map<string, Row>()
  for (const entry of sets) {
    entries.set(entry)
    const { key, kind, timeMs, value } = entry
    model.set(key, { kind, timeMs, text: new TextDecoder().decode(value) })
  }
  return model
}

const anyEntry = fc.record({
  // few keys, so that they are replaced; those of a foreign writer may be any text
  key: fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((n) => `NGR-LOS-IKJ-${n}`),
    fc.constantFrom('ü', 'a%62', 'ab', 'a b', '京'),
  ),
  kind: fc.constantFrom(...entryKinds),
  revision: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  timeMs: fc.integer({ min: 0, max: 8e15 }),
  value: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }).map(bytesOf),
    fc.json({ maxDepth: 2 }).map(bytesOf),
    // texts of few shapes, some with what looks like an end or a beginning of a value
    fc
      .record(
        {
          id: fc.constantFrom('NGR-LOS-IKJ-1', 'NGR-LOS-IKJ-2', '', 'a"b', '\u0001', ':"', 'ü'),
          n: fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constant('1')),
          list: fc.array(fc.record({ lat: fc.double({ noNaN: true }), area: fc.string() }), {
            maxLength: 2,
          }),
        },
        { requiredKeys: ['id'] },
      )
      .map((value) => bytesOf(JSON.stringify(value))),
  ),
})

test('entries in bytes are those of a Map, and so are those adopted from their records', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 200 }), (sets) => {
      const entries = new PackedEntries()
      const model = fill(entries, sets)
      expect(contentOf(entries)).toEqual(model)
      const copy = new PackedEntries({ shapes: entries.shapes })
      const revisions = new Map(sets.map(({ key, revision }) => [key, revision]))
      for (const records of entries.records(500)) {
        const isTaken = copy.adopt(records, ({ key, kind, revision, text }) => {
          expect([revision, text()]).toEqual([revisions.get(key), model.get(key)?.text])
          return kind
        })
        expect(isTaken).toBe(true)
      }
      expect(contentOf(copy)).toEqual(model)
      for (const one of [entries, copy]) {
        expect(one.fine).toBe([...model.values()].filter(({ kind }) => kind === 'fine').length)
        for (const key of model.keys()) expect(one.keyOf(one.find(key))).toBe(key)
        expect(one.find('none')).toBe(-1)
      }
    }),
  )
})

const entryOf = (key: string, text: string): PackedEntry => ({
  key,
  kind: 'fine',
  revision: 1,
  timeMs: 1,
  value: bytesOf(text),
})

test('a bucket that changes thirty times over keeps what is current, in about its own bytes', () => {
  const entries = new PackedEntries()
  const [keys, body] = [2_000, 'x'.repeat(2_000)]
  // one in ten never changes again: the blocks that it is in are emptied all the same
  for (let round = 0; round < 30; round++)
    for (let key = 0; key < keys; key++)
      if (round === 0 || key % 10 > 0) entries.set(entryOf(`K${key}`, `${round} ${body}`))
  expect(entries.rows).toBe(keys)
  for (let key = 0; key < keys; key++)
    expect(entries.textOf(entries.find(`K${key}`)).startsWith(key % 10 > 0 ? '29 ' : '0 ')).toBe(
      true,
    )
  expect(entries.heldBytes).toBeLessThan(keys * body.length * 2 + 12 * 1024 * 1024)
})

test('an image may hold former entries beside the current ones, as many as there are: the later counts', () => {
  const former = new PackedEntries()
  const body = 'x'.repeat(3_000)
  for (let key = 0; key < 5_000; key++) former.set(entryOf(`K${key}`, `former ${body}`))
  // the shapes of the later ones come after those of the former
  const current = new PackedEntries({ shapes: former.shapes })
  for (let key = 0; key < 5_000; key++) current.set(entryOf(`K${key}`, `${key} ${body}`))
  const both = new PackedEntries({ shapes: current.shapes })
  for (const from of [former, current])
    for (const records of from.records(512 * 1024))
      expect(both.adopt(records, ({ kind }) => kind)).toBe(true)
  expect(contentOf(both)).toEqual(contentOf(current))
  expect(both.fine).toBe(5_000)
})

test('rows that name a field are found by their bytes, also one that names it with escapes', () => {
  const entries = new PackedEntries()
  for (let key = 0; key < 5_000; key++) entries.set(entryOf(`K${key}`, '{"id":"a device"}'))
  entries.set(entryOf('K7', '{"device":{}}'))
  entries.set(entryOf('K4999', '{"device":{}}'))
  entries.set(entryOf('K7', '{}'))
  entries.set(entryOf('K9', '{"\\u0064evice":{}}'))
  const keys = entries.rowsNaming('device').map((row) => entries.keyOf(row))
  expect(keys.toSorted()).toEqual(['K4999', 'K9'])
})

test.each([
  ['a part of a record', (whole: Uint8Array) => whole.subarray(0, whole.length - 4)],
  ['no words', (whole: Uint8Array) => whole.subarray(0, whole.length - 1)],
  ['zeros', (whole: Uint8Array) => new Uint8Array(whole.length)],
  ['noise', (whole: Uint8Array) => whole.map((_, i) => (i * 197 + 91) % 251)],
])('%s is not taken for records', (_name, damaged) => {
  const entries = new PackedEntries()
  entries.set(entryOf('A', '{}'))
  entries.set(entryOf('B', '{"a":1}'))
  const [records = new Uint8Array()] = entries.records(1e6)
  const adopted = new PackedEntries({ shapes: entries.shapes }).adopt(
    damaged(records),
    () => 'fine',
  )
  expect(adopted).toBe(false)
})

test('records of a shape that the image does not have are not taken', () => {
  const entries = new PackedEntries()
  entries.set(entryOf('A', '{"a":1}'))
  const [records = new Uint8Array()] = entries.records(1e6)
  expect(new PackedEntries().adopt(records, () => 'fine')).toBe(false)
})

test('the entry of a plain sensor is what JSON.parse makes of it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 })
  const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  const anySensor = fc.record({
    id: fc.constantFrom('NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002'),
    cadence_seconds: fc.integer(),
    sites: fc
      .record({ from: text, area: text, lat: number, lon: number, address: text })
      .map((site) => [site] as const),
    created_at: text,
  })
  let plain = 0
  fc.assert(
    fc.property(anySensor, (sensor) => {
      const entries = new PackedEntries()
      const json = JSON.stringify(sensor)
      const entry = { kind: 'fine', revision: 1, timeMs: 0, value: bytesOf(json) } as const
      entries.set({ ...entry, key: 'NGR-LOS-IKJ-001' })
      const values = entries.valuesOf(0, plainSensor.skeleton)
      expect(values === undefined).toBe(json.includes('\\'))
      expect(values === undefined ? sensor : plainSensor.entryOf(values)).toEqual(JSON.parse(json))
      if (values !== undefined) plain++
    }),
  )
  expect(plain).toBeGreaterThan(50)
})
