import { expect, test } from 'vitest'
import type { EventKind } from '../../core/delivery/delivery.ts'
import { applyRecord, createLedger } from '../../core/delivery/ledger.ts'
import type { DeliveryRecord } from '../../core/delivery/ledger-record.ts'
import { neededReadings } from '../../notifier/needed-readings.ts'

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
  expect(neededReadings(ledger, 0)).toBeUndefined()
  applyRecord(ledger, delivery(0, 10, 'dead'))
  applyRecord(ledger, delivery(1, 20, 'new', 'aqi.high'))
  expect(neededReadings(ledger, 0)).toBeUndefined()
  applyRecord(ledger, delivery(2, 40, 'wait'))
  applyRecord(ledger, delivery(3, 30, 'new'))
  expect(neededReadings(ledger, 0)).toBe(30)
  applyRecord(ledger, delivery(3, 30, 'done'))
  expect(neededReadings(ledger, 0)).toBe(40)
  // asked for again, a dead one waits
  applyRecord(ledger, delivery(0, 10, 'wait'))
  expect(neededReadings(ledger, 0)).toBe(10)
})

test('what is not matched yet, or is to be read again, is needed', () => {
  const ledger = createLedger()
  expect(neededReadings(ledger, 50)).toBe(51)
  applyRecord(ledger, {
    type: 'hook',
    webhook: 0,
    says: { op: 'behind', stream: 'readings', from: 7 },
  })
  expect(neededReadings(ledger, 50)).toBe(7)
})
