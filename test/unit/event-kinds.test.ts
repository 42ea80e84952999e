import { readFileSync } from 'node:fs'
import { headers } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { eventKinds, ledgerNumberOf, sourceNames } from '../../core/delivery/delivery.ts'
import { eventKindRows, sourceRows } from '../../core/delivery/event-kinds.ts'
import { bitsOf, knownKindOfBits } from '../../core/delivery/ledger.ts'
import { standingThresholds } from '../../pipeline/decide/thresholds.ts'
import { readWal, setWalHeaders } from '../../runtime/nats/wal-message.ts'
import {
  areRecords,
  decodeRecords,
  encodeRecords,
  noCursors,
  versionOf,
} from '../../schemas/webhooks/ledger-records.ts'
import { encodeManifest, parseManifest } from '../../schemas/webhooks/ledger-snapshot.ts'
import { dataSchemas } from '../../schemas/webhooks/webhook-payload.ts'

test('what was once written keeps its number: append, never change', () => {
  expect(Object.fromEntries(eventKinds.map((kind) => [kind, ledgerNumberOf(kind)]))).toEqual({
    'aqi.high': 0,
    'aqi.critical': 1,
    'sensor.offline': 2,
    'sensor.online': 3,
    'reading.new': 4,
    'reading.anchored': 5,
    'sensor.quality': 6,
  })
  const written = sourceNames.map((source) => [
    sourceRows[source].header,
    sourceRows[source].behindOp,
  ])
  expect(written).toEqual([
    ['Dw-Events', 2],
    ['Dw-Readings', 3],
    ['Dw-Anchored', 5],
  ])
  // the other ops of a hook record are 1 and 4
  expect(new Set([1, 4, ...written.map(([, op]) => op)]).size).toBe(2 + sourceNames.length)
})

test('each kind comes from its source, and kinds and sources are known from their level on', () => {
  const kinds = eventKinds.map((kind) => {
    const { source, level } = eventKindRows[kind]
    return [kind, source, level]
  })
  expect(kinds).toEqual([
    ['aqi.high', 'events', 1],
    ['aqi.critical', 'events', 1],
    ['sensor.offline', 'events', 1],
    ['sensor.online', 'events', 1],
    ['reading.new', 'readings', 1],
    ['reading.anchored', 'anchored', 2],
    ['sensor.quality', 'events', 2],
  ])
  const sources = sourceNames.map((source) => {
    const { holdsReadings, isAlwaysFollowed, level } = sourceRows[source]
    return [source, holdsReadings, isAlwaysFollowed, level]
  })
  expect(sources).toEqual([
    ['events', false, true, 1],
    ['readings', true, false, 1],
    ['anchored', true, false, 2],
  ])
})

test('urgent kinds are sent before the rest, and no other kind is', () => {
  const urgent = eventKinds.filter((kind) => eventKindRows[kind].isUrgent)
  expect(urgent).toEqual(['aqi.critical', 'sensor.offline', 'sensor.online'])
})

test('the pipeline reports a rise above every threshold that webhooks have without naming one', () => {
  expect(standingThresholds).toEqual([150, 300])
  expect(eventKindRows['aqi.high'].words).toContain('150')
  expect(eventKindRows['aqi.critical'].words).toContain('300')
})

test('a number without a kind is never read as another kind: its record is foreign', () => {
  const [bytes] = [encodeRecords([delivery(0)])]
  for (const number of [7]) {
    expect(knownKindOfBits(number)).toBeUndefined()
    const other = bytes.slice()
    other[2] = ((other[2] ?? 0) & ~7) | number
    expect(areRecords(other)).toBe(false)
    expect(() => decodeRecords(other)).toThrow(`no kind of event has the number ${number}`)
  }
})

const delivery = (slot: number) =>
  ({
    type: 'new',
    webhook: 9,
    kind: 'reading.new',
    trigger: 'event',
    detail: 7,
    slot,
    attempts: 0,
    sequence: 300,
    dueMs: 5,
  }) as const

test('a record of 0.1 is read, and written in the same way', () => {
  const bytes = Buffer.from('0100e40009000000030000002c0100000000050000000000', 'hex')
  expect(decodeRecords(bytes)).toEqual([delivery(3)])
  expect(Buffer.from(encodeRecords([delivery(3)]))).toEqual(bytes)
  expect(bitsOf('reading.new', 'event', 7)).toBe(0xe4)
  const behind = Buffer.from('050300000900000000000000070000000000000000000000', 'hex')
  const hook = { type: 'hook', webhook: 9, change: { op: 'behind', source: 'readings', from: 7 } }
  expect(decodeRecords(behind)).toEqual([hook])
})

const walOf = (written: Readonly<Record<string, string>>) => {
  const header = headers()
  header.set('Nats-Expected-Last-Subject-Sequence', '0')
  for (const [name, value] of Object.entries(written)) header.set(name, value)
  return { seq: 4, subject: 'dw.0.wal', headers: header, data: new Uint8Array() }
}
const of01 = { 'Dw-Worker': 'w', 'Dw-Write': '3', 'Dw-Events': '12', 'Dw-Readings': '0' }

test('a message of 0.1 is read, and written in the same way unless it holds anything newer', () => {
  const cursors = { ...noCursors, events: 12 }
  expect(readWal('DW_0', walOf(of01))).toMatchObject({ worker: 'w', write: 3, cursors })
  const header = headers()
  setWalHeaders(header, { worker: 'w', write: 3, cursors }, versionOf(cursors, 1))
  expect(Object.fromEntries(header.keys().map((name) => [name, header.get(name)]))).toEqual(of01)
})

test('a cursor that is not a number is foreign, and so is a message that lacks one of 0.1', () => {
  expect(readWal('DW_0', walOf({ ...of01, 'Dw-Anchored': 'far' }))).toBeUndefined()
  expect(readWal('DW_0', walOf({ ...of01, 'Dw-Readings': '' }))).toBeUndefined()
  expect(readWal('DW_0', walOf({ ...of01, 'Dw-Anchored': '7' }))?.cursors.anchored).toBe(7)
})

test('a ledger of a later version is refused by a sentence that names both', () => {
  const words = 'is of version 3, and this airproof reads it up to version 2'
  expect(() => readWal('DW_0', walOf({ ...of01, 'Air-Version': '3' }))).toThrow(words)
  expect(() => parseManifest(new TextEncoder().encode('{"v":3}'))).toThrow(words)
})

test('a manifest of 0.1 is read, and written in the same way unless it holds anything newer', () => {
  const text = '{"v":1,"walSeq":9,"chunks":1,"records":2,"events":12,"readings":0}'
  const manifest = parseManifest(new TextEncoder().encode(text))
  const cursors = { ...noCursors, events: 12 }
  expect(manifest).toEqual({ version: 1, walSeq: 9, chunks: 1, records: 2, cursors })
  if (manifest === undefined) throw new Error('it is a manifest')
  expect(encodeManifest(manifest)).toBe(text)
  const wanted = { ...cursors, readings: 5, anchored: 3 }
  const next = { ...manifest, version: versionOf(wanted, 1), cursors: wanted }
  const bytes = new TextEncoder().encode(encodeManifest(next))
  expect(parseManifest(bytes)).toEqual({ ...next, version: 2 })
})

test('every kind has its row in docs/webhooks.md, with the data that its schema requires', () => {
  const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
  const rows = page
    .split('\n')
    .map((line) => /^\| `([a-z]+\.[a-z]+)` \| (.+) \| (.+) \|$/.exec(line))
    .filter((row) => row !== null)
  expect(rows.map(([, kind]) => kind)).toEqual(eventKinds)
  let fields: readonly string[] = []
  for (const [, kind, , data = ''] of rows) {
    if (data !== 'the same') fields = /`([^`]+)`/.exec(data)?.[1]?.split(', ') ?? []
    const schema = dataSchemas[eventKinds.find((one) => one === kind) ?? 'aqi.high']
    expect([kind, fields]).toEqual([kind, [...schema.required]])
  }
})
