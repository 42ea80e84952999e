import { expect, test } from 'vitest'
import {
  type DeliveryRecord,
  type EventKind,
  eventKinds,
  sourceNames,
  sourceOf,
} from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import { applyRecord, createLedger } from '../../core/delivery/ledger.ts'
import { neededReadings } from '../../notifier/match/needed-readings.ts'
import { noCursors } from '../../schemas/webhooks/ledger-records.ts'

const delivery = (
  slot: number,
  sequence: number,
  type: DeliveryRecord['type'],
  kind: EventKind = 'reading.new',
): DeliveryRecord => {
  const key = { webhook: 0, kind, sequence, detail: 0 }
  return { ...key, type, slot, attempts: 0, dueMs: 0, trigger: 'event' }
}

test('a delivery that waits needs its reading; one that is dead or done, or of an event, does not', () => {
  const ledger = createLedger()
  expect(neededReadings(ledger, noCursors)).toBeUndefined()
  applyRecord(ledger, delivery(0, 10, 'dead'))
  applyRecord(ledger, delivery(1, 20, 'new', 'aqi.high'))
  expect(neededReadings(ledger, noCursors)).toBeUndefined()
  applyRecord(ledger, delivery(2, 40, 'wait'))
  applyRecord(ledger, delivery(3, 30, 'new'))
  expect(neededReadings(ledger, noCursors)).toBe(30)
  applyRecord(ledger, delivery(3, 30, 'done'))
  expect(neededReadings(ledger, noCursors)).toBe(40)
  // asked for again, a dead one waits
  applyRecord(ledger, delivery(0, 10, 'wait'))
  expect(neededReadings(ledger, noCursors)).toBe(10)
})

test('a delivery that waits needs its reading, whichever source brought it', () => {
  for (const kind of eventKinds) {
    const ledger = createLedger()
    applyRecord(ledger, delivery(0, 10, 'wait', kind))
    const isNeeded = sourceRows[sourceOf(kind)].holdsReadings
    expect([kind, neededReadings(ledger, noCursors)]).toEqual([kind, isNeeded ? 10 : undefined])
  }
})

test.each(sourceNames.filter((source) => sourceRows[source].holdsReadings))(
  'what is not matched yet of %s, or is to be read again, is needed',
  (source) => {
    const ledger = createLedger()
    const at = (cursor: number) => ({ ...noCursors, [source]: cursor })
    // wanted, and nothing of it is matched yet: not the same as not wanted
    expect(neededReadings(ledger, at(0))).toBe(1)
    expect(neededReadings(ledger, at(50))).toBe(51)
    applyRecord(ledger, { type: 'hook', webhook: 0, change: { op: 'behind', source, from: 7 } })
    expect(neededReadings(ledger, at(50))).toBe(7)
  },
)

test('of two sources that hold readings the one that is less far counts', () => {
  const cursors = { events: 90, readings: 50, anchored: 20 }
  expect(neededReadings(createLedger(), cursors)).toBe(21)
  expect(neededReadings(createLedger(), { ...cursors, anchored: undefined })).toBe(51)
})
