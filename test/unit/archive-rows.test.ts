/** The rows, paths and manifests of the archive: kept for good, so what they are is written out here. */
import { describe, expect, test } from 'vitest'
import { deviceText } from '../../core/air/device-text.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import {
  daysFile,
  hashesFile,
  hoursFile,
  isArchivePath,
  readingsFile,
  runManifest,
  runOfPath,
  sensorDaysFile,
  sensorHoursFile,
  sensorsFile,
} from '../../operate/archive/archive-layout.ts'
import { catalogueText, noCatalogue, parseCatalogue } from '../../operate/archive/catalogue.ts'
import { checkOrder } from '../../operate/archive/check-archive.ts'
import type { Cell } from '../../operate/archive/parquet-table.ts'
import {
  type ArchivedRow,
  RowFault,
  readingColumns,
  rowOf,
} from '../../operate/archive/reading-columns.ts'
import { noEnd, parseRunManifest, runManifestText } from '../../operate/archive/run-manifest.ts'
import { readingOf } from '../support/readings.ts'
import { deviceWord, signingDevice } from '../support/signing-device.ts'

/** A value of each quantity, none like another. */
const measured = Object.fromEntries(quantityNames.map((name, id) => [name, 1_001 + 7 * id]))
const whole = readingOf({ ...measured, seq: 4_711, aqi: 57, flags: 1 << 11, area: 'Ìkẹjà, "GRA"' })
const signed = signingDevice('ed25519').sign(
  deviceText(whole.sensor, whole.timeMs, [['pm25', '10.01']]),
)
const leaf2: LeafFields = { ...whole, leafVersion: 2, device: deviceWord(signed) }
const { sensor, timeMs, seq, aqi } = whole
const leaf1: LeafFields = { sensor, timeMs, seq, aqi, values: whole.values.slice(0, 5) }

const cellsOf = (row: ArchivedRow): Record<string, Cell> =>
  Object.fromEntries(readingColumns.map(({ name, of }) => [name, of(row)]))
const read = (cells: Record<string, Cell>): ArchivedRow =>
  rowOf((column) => cells[readingColumns[column]?.name ?? ''] ?? null)
const faultOf = (cells: Record<string, Cell>): string => {
  try {
    read(cells)
    return 'none'
  } catch (error) {
    if (error instanceof RowFault) return error.message
    throw error
  }
}
const row1: ArchivedRow = { reading: leaf1, batch: 9 }
const row2: ArchivedRow = { reading: leaf2, batch: 9, signature: signed }

describe('a row', () => {
  test('has these columns, in this order', () => {
    expect(
      readingColumns.map(({ name, kind, isNeeded }) => `${name} ${kind}${isNeeded ? '!' : ''}`),
    ).toEqual([
      'sensor_id text!',
      'timestamp time!',
      'seq count!',
      'area text',
      ...quantityNames.map((name) => `${name} number`),
      'aqi int',
      'flags count',
      'quality text',
      'batch int!',
      'leaf_version int!',
      'device text',
      'algorithm text',
      'public_key text',
      'signature text',
      'signed_text text',
    ])
  })

  test('has each field in the column of its name', () => {
    expect(cellsOf(row2)).toEqual({
      sensor_id: sensor,
      timestamp: timeMs,
      seq: 4_711,
      area: 'Ìkẹjà, "GRA"',
      ...Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, value / 100])),
      aqi: 57,
      flags: 1 << 11,
      quality: 'good',
      batch: 9,
      leaf_version: 2,
      device: deviceWord(signed),
      algorithm: signed.algorithm,
      public_key: signed.publicKey,
      signature: signed.signature,
      signed_text: signed.text,
    })
  })

  test('is read as it was written, of both versions, signed, unsigned, and without its signature', () => {
    const { device: _, ...unsigned } = leaf2 as typeof leaf2 & { device: string }
    for (const row of [
      row1,
      row2,
      { reading: leaf2, batch: 9 },
      { reading: unsigned as LeafFields, batch: 9 },
      { reading: { ...leaf1, aqi: null }, batch: 9 },
    ]) {
      const { reading, batch, signature } = read(cellsOf(row))
      expect(batch).toBe(row.batch)
      expect(signature).toEqual('signature' in row ? row.signature : undefined)
      expect(reading).toEqual(row.reading)
    }
  })

  test.each([
    'area',
    'flags',
    'quality',
    'device',
    'algorithm',
    'public_key',
    'signature',
    'signed_text',
    ...quantityNames.slice(5),
  ])('of leaf version 1 has no %s, which its leaf does not hold', (name) => {
    expect(cellsOf(row1)[name]).toBeNull()
    expect(faultOf({ ...cellsOf(row1), [name]: cellsOf(row2)[name] ?? null })).toBe(
      `its leaf is of version 1, which does not hold its ${name}`,
    )
  })

  test.each<[string, Record<string, Cell>, RegExp]>([
    ['a sensor that is not a text', { sensor_id: 7 }, /sensor_id is not a text/],
    ['no time', { timestamp: null }, /timestamp is not a whole number/],
    ['half a number', { seq: 1.5 }, /seq is not a whole number/],
    ['a negative batch', { batch: -1 }, /batch is not a whole number/],
    ['an index that is a text', { aqi: '57' }, /aqi is not a whole number/],
    ['a value of three decimals', { pm25: 10.011 }, /pm25 has more than two decimals/],
    ['a value that is a text', { pm10: '1' }, /pm10 has more than two decimals/],
    ['a leaf of a later version', { leaf_version: 3 }, /leaf_version is 3/],
    ['another quality than that of its flags', { quality: 'fail' }, /quality is not that/],
    ['a device that is not a hash', { device: 'x' }, /device is not a hash/],
    ['a signature without a device', { device: null }, /device is not a hash/],
    ['an algorithm that is not known', { algorithm: 'rsa' }, /algorithm is not a known one/],
    ['no public key', { public_key: null }, /public_key is not a text/],
    ['no signature', { signature: null }, /signature is not a text/],
    ['no signed text', { signed_text: null }, /signed_text is not a text/],
  ])('with %s is refused', (_what, change, why) => {
    expect(faultOf({ ...cellsOf(row2), ...change })).toMatch(why)
  })
})

describe('a path', () => {
  const dayMs = Date.UTC(2026, 10, 22)
  const paths = {
    [readingsFile(dayMs, 3)]: 'readings/year=2026/month=11/day=22/part-3.parquet',
    [hashesFile(dayMs, 3)]: 'hashes/year=2026/month=11/day=22/part-3.parquet',
    [hoursFile(dayMs)]: 'statistics/area_hours/year=2026/month=11/areas.parquet',
    [daysFile(dayMs)]: 'statistics/area_days/year=2026/areas.parquet',
    [sensorHoursFile(dayMs)]: 'statistics/sensor_hours/year=2026/month=11/day=22/sensors.parquet',
    [sensorDaysFile(dayMs)]: 'statistics/sensor_days/year=2026/month=11/day=22/sensors.parquet',
    [runManifest(3)]: 'runs/run-3.manifest.json',
    [sensorsFile]: 'sensors.parquet',
  }

  test('is where it always was, and of the archive', () => {
    for (const [path, always] of Object.entries(paths)) {
      expect(path).toBe(always)
      expect(isArchivePath(path)).toBe(true)
    }
    expect(Object.keys(paths).map(runOfPath)).toEqual([3, 3, ...Array(6).fill(undefined)])
  })

  test('that leads elsewhere is not of the archive', () => {
    for (const path of Object.keys(paths))
      for (const other of [`../${path}`, `/${path}`, `${path}/x`, `${path}\n`, path.toUpperCase()])
        expect([other, isArchivePath(other)]).toEqual([other, false])
  })
})

const file = (path: string) => ({
  path,
  sha256: 'ab'.repeat(32),
  bytes: 10,
  rows: 1,
  day: '2026-11-22',
})
const endOf = (batch: number) => ({ batch, position: 10 * batch, n: Array(16).fill(batch) })
const manifest = {
  run: 1,
  before: noEnd,
  after: endOf(1),
  readings: 16,
  files: [file(readingsFile(Date.UTC(2026, 10, 22), 1))],
  hashes: [],
  runs: [],
}
const { runs: _, ...listed } = manifest
const runOf = (run: number, from: number, to: number) => ({
  ...listed,
  run,
  before: from === 0 ? noEnd : endOf(from),
  after: endOf(to),
  manifest: runManifest(run),
  sha256: 'cd'.repeat(32),
  bytes: 5,
  files: [],
})
const catalogue = {
  ...noCatalogue,
  complete_until: '2026-11-23T00:00:00.000Z',
  end: endOf(7),
  cursor: 'x',
  runs: [runOf(1, 0, 4), runOf(2, 4, 7)],
}

/** The text without one of its fields, wherever it is. */
const without = (text: string): (readonly [string, string])[] => {
  const names = new Set([...text.matchAll(/"(\w+)":/g)].map(([, name = '']) => name))
  return [...names].map((name) => [name, text.replace(`"${name}":`, `"${name}_":`)] as const)
}

describe('a manifest of a run', () => {
  test('is read as it was written, and refused without one of its fields', () => {
    const text = runManifestText(manifest)
    expect(parseRunManifest(text)).toEqual(manifest)
    for (const [name, less] of without(text))
      expect([name, parseRunManifest(less)]).toEqual([name, undefined])
    expect(parseRunManifest('{')).toBeUndefined()
  })

  test.each<[string, RegExp, string]>([
    ['a hash of another length', /"sha256":"ab/, '"sha256":"a'],
    ['a run before the first', /"run":1/, '"run":0'],
    ['half a row', /"rows":1/, '"rows":1.5'],
    ['fewer partitions', /"n":\[0,/, '"n":['],
    ['a day that is none', /2026-11-22"/, '2026-11"'],
    ['what is not known', /"run":1/, '"run":1,"more":1'],
  ])('with %s is refused', (_what, from, to) => {
    const text = runManifestText(manifest)
    expect(text).toMatch(from)
    expect(parseRunManifest(text.replace(from, to))).toBeUndefined()
  })

  test('of a later version says so', () => {
    const later = runManifestText(manifest).replace('.v1"', '.v2"')
    expect(() => parseRunManifest(later)).toThrow(/format airproof\.archive\.run\.v2/)
  })
})

describe('a catalogue', () => {
  test('is read as it was written, and refused without one of its fields', () => {
    const text = catalogueText(catalogue)
    expect(parseCatalogue(text)).toMatchObject(catalogue)
    for (const [name, less] of without(text))
      expect([name, parseCatalogue(less)]).toEqual([name, undefined])
  })

  test('that lists a path of no archive, or one twice, is refused', () => {
    const table = { ...file(sensorsFile) }
    expect(parseCatalogue(catalogueText({ ...catalogue, tables: [table] }))).toBeDefined()
    expect(parseCatalogue(catalogueText({ ...catalogue, tables: [table, table] }))).toBeUndefined()
    const elsewhere = { ...table, path: '../sensors.parquet' }
    expect(parseCatalogue(catalogueText({ ...catalogue, tables: [elsewhere] }))).toBeUndefined()
  })

  test('whose runs do not go on from one another is refused', () => {
    expect(() => checkOrder(catalogue)).not.toThrow()
    const [first = runOf(1, 0, 4), second = runOf(2, 4, 7)] = catalogue.runs
    for (const [runs, end, why] of [
      [[second], endOf(7), /run 1 is not in the catalogue/],
      [[first, { ...second, run: 3 }], endOf(7), /run 2 is not in the catalogue/],
      [[first, { ...second, before: endOf(5) }], endOf(7), /run 2 does not go on/],
      [[{ ...first, before: endOf(1) }, second], endOf(7), /run 1 does not go on/],
      [[first, second], endOf(8), /does not end where its last run does/],
    ] as const)
      expect(() => checkOrder({ ...catalogue, runs, end })).toThrow(why)
  })
})
