import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type DeliveryRecord,
  eventKinds,
  keyText,
  type LedgerRecord,
  parseKeyText,
  sourceNames,
  triggers,
} from '../../core/delivery/delivery.ts'
import {
  createDueWheel,
  createSlotQueue,
  dequeue,
  enqueue,
  queued,
} from '../../core/delivery/due-slots.ts'
import {
  applyRecord,
  createLedger,
  deliveryAt,
  findSlot,
  type Ledger,
  rebuildFreeSlots,
  recordsOf,
  reserveSlot,
  slotsOf,
} from '../../core/delivery/ledger.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import {
  decodeRecords,
  encodeRecords,
  foldRecords,
  recordBytes,
} from '../../schemas/webhooks/ledger-records.ts'
import { encodeLedger } from '../../schemas/webhooks/ledger-snapshot.ts'

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const uint48 = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const delivery = fc.record({
  type: fc.constantFrom('new' as const, 'wait' as const, 'done' as const, 'dead' as const),
  webhook: fc.integer({ min: 0, max: 3 }),
  kind: fc.constantFrom(...eventKinds),
  trigger: fc.constantFrom(...triggers),
  detail: fc.integer({ min: 0, max: 2_047 }),
  slot: fc.integer({ min: 0, max: 40 }),
  attempts: fc.integer({ min: 0, max: 11 }),
  sequence: uint48,
  dueMs: uint48,
})
const hook = fc.record({
  type: fc.constant('hook' as const),
  webhook: fc.integer({ min: 0, max: 3 }),
  change: fc.oneof(
    fc.record({ op: fc.constant('dropped' as const) }),
    fc.record({
      op: fc.constant('behind' as const),
      source: fc.constantFrom(...sourceNames),
      from: uint48,
    }),
    fc.record({
      op: fc.constant('health' as const),
      failures: uint32,
      firstFailureMs: uint48,
      lastFailureMs: uint48,
    }),
  ),
})
const epoch = fc.record({ type: fc.constant('epoch' as const), atMs: uint48 })
const record: fc.Arbitrary<LedgerRecord> = fc.oneof({ arbitrary: delivery, weight: 6 }, hook, epoch)

test('a record is 24 bytes, and what is read is what was written', () => {
  fc.assert(
    fc.property(fc.array(record), (records) => {
      const bytes = encodeRecords(records)
      expect(bytes.length).toBe(records.length * recordBytes)
      expect(decodeRecords(bytes)).toEqual(records)
    }),
  )
})

test('bytes that are not records are refused', () => {
  expect(() => decodeRecords(new Uint8Array(23))).toThrow(RangeError)
  expect(() => decodeRecords(new Uint8Array(24))).toThrow(RangeError)
  expect(() => decodeRecords(new Uint8Array(24).fill(9))).toThrow(RangeError)
})

const fold = (records: Iterable<LedgerRecord>, ledger = createLedger(4)): Ledger => {
  for (const entry of records) applyRecord(ledger, entry)
  return ledger
}
const contents = (ledger: Ledger) => ({
  records: [...recordsOf(ledger)].toSorted((a, b) => keyOf(a).localeCompare(keyOf(b))),
  pending: ledger.pending,
  dead: ledger.dead,
})
const keyOf = (entry: LedgerRecord): string =>
  JSON.stringify([entry.type === 'new' ? 'wait' : entry.type, 'slot' in entry ? entry.slot : entry])

test('a snapshot and the log after it give the ledger that never stopped', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 60 }), fc.nat(60), (records, at) => {
      const uninterrupted = fold(records)
      const before = fold(records.slice(0, at))
      const { chunks } = encodeLedger(before)
      const recovered = createLedger(4)
      for (const chunk of chunks) foldRecords(recovered, chunk)
      foldRecords(recovered, encodeRecords(records.slice(at)))
      expect(contents(recovered)).toEqual(contents(uninterrupted))
    }),
  )
})

test('a log folded twice is a log folded once', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 40 }), (records) => {
      const once = fold(records)
      expect(contents(fold(records.slice(-1), fold(records)))).toEqual(contents(once))
    }),
  )
})

const waiting = (
  slot: number,
  webhook = 1,
  wish: Partial<DeliveryRecord> = {},
): DeliveryRecord => ({
  type: 'new',
  webhook,
  kind: 'aqi.high',
  trigger: 'event',
  detail: 150,
  slot,
  attempts: 0,
  sequence: 1_000 + slot,
  dueMs: 0,
  ...wish,
})

test('a slot is reused only after its delivery is done', () => {
  const ledger = createLedger(2)
  const [a, b] = [reserveSlot(ledger), reserveSlot(ledger)]
  applyRecord(ledger, waiting(a))
  applyRecord(ledger, waiting(b))
  const c = reserveSlot(ledger)
  expect(new Set([a, b, c]).size).toBe(3)
  applyRecord(ledger, { ...waiting(a), type: 'done' })
  expect(reserveSlot(ledger)).toBe(a)
  expect(reserveSlot(ledger)).toBe(3)
})

test('after a recovery exactly the empty slots are free', () => {
  const ledger = fold([waiting(0), waiting(1), waiting(2), waiting(3)])
  applyRecord(ledger, { ...waiting(1), type: 'done' })
  applyRecord(ledger, { ...waiting(3), type: 'done' })
  rebuildFreeSlots(ledger)
  expect([reserveSlot(ledger), reserveSlot(ledger), reserveSlot(ledger)]).toEqual([1, 3, 4])
})

test('a deleted webhook frees its own deliveries and no others', () => {
  const ledger = fold([waiting(0, 1), waiting(1, 2), waiting(2, 1, { type: 'dead' })])
  applyRecord(ledger, { type: 'hook', webhook: 1, change: { op: 'dropped' } })
  expect([...slotsOf(ledger, 1)]).toEqual([])
  expect([...slotsOf(ledger, 2)]).toEqual([1])
  expect([ledger.pending, ledger.dead]).toEqual([1, 0])
})

test('a delivery is found by its natural key', () => {
  const ledger = fold([
    waiting(0),
    waiting(1, 1, { sequence: 2 ** 40 }),
    waiting(2, 1, { kind: 'aqi.critical' }),
  ])
  const { slot: _, ...key } = waiting(1, 1, { sequence: 2 ** 40 })
  expect(findSlot(ledger, key)).toBe(1)
  expect(findSlot(ledger, { ...key, detail: 151 })).toBeUndefined()
  expect(findSlot(ledger, { ...key, webhook: 2 })).toBeUndefined()
  expect(deliveryAt(ledger, 1)).toMatchObject({ sequence: 2 ** 40, kind: 'aqi.high', detail: 150 })
})

test('a key and its text are the same', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...eventKinds),
      fc.integer({ min: 1, max: 2 ** 46 }),
      fc.integer({ min: 0, max: 2_047 }),
      (kind, sequence, detail) => {
        const key = { kind, sequence, detail }
        expect(parseKeyText(keyText(key))).toEqual(key)
      },
    ),
  )
  for (const text of [
    '',
    'aqi.high',
    'aqi.high-0-1',
    'aqi.low-1-1',
    'aqi.high-1-2048',
    'aqi.high-1-1-1',
  ])
    expect(parseKeyText(text)).toBeUndefined()
})

test('the wheel returns each slot when it is due, never before, never twice', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 * dayMs }), { minLength: 1, maxLength: 40 }),
      // a smaller step takes minutes for two days
      fc.integer({ min: 20, max: 3 * hourMs }),
      (dues, stepMs) => {
        const startMs = 1_000_000
        const ledger = fold(dues.map((due, slot) => waiting(slot, 1, { dueMs: startMs + due })))
        const wheel = createDueWheel(ledger, startMs)
        dues.forEach((_, slot) => wheel.add(slot))
        const seen = new Map<number, number>()
        for (let nowMs = startMs; nowMs <= startMs + 2 * dayMs + stepMs + 200; nowMs += stepMs) {
          wheel.turn(nowMs, (slot) => {
            expect(seen.has(slot)).toBe(false)
            seen.set(slot, nowMs)
          })
        }
        expect(seen.size).toBe(dues.length)
        dues.forEach((due, slot) => {
          const lateMs = (seen.get(slot) ?? 0) - (startMs + due)
          expect(lateMs).toBeGreaterThanOrEqual(0)
          expect(lateMs).toBeLessThan(stepMs + 200)
        })
      },
    ),
    { numRuns: 30 },
  )
})

test.each([1_000, 30 * hourMs])('a slot due in %i ms can be removed from the wheel', (due) => {
  const ledger = fold([0, 1, 2].map((slot) => waiting(slot, 1, { dueMs: due })))
  const wheel = createDueWheel(ledger, 0)
  for (const slot of [0, 1, 2]) wheel.add(slot)
  // the far ones were put into the last bucket of that time
  wheel.turn(60_000 > due ? 0 : 60_000, () => undefined)
  wheel.remove(1)
  wheel.remove(1)
  const seen: number[] = []
  for (let nowMs = 0; nowMs <= due + hourMs; nowMs += hourMs)
    wheel.turn(nowMs, (slot) => seen.push(slot))
  expect(seen.toSorted((a, b) => a - b)).toEqual([0, 2])
})

test('a queue returns slots in the order of their arrival', () => {
  const ledger = createLedger(8)
  const queue = createSlotQueue()
  for (const slot of [3, 1, 2]) enqueue(ledger, queue, slot)
  expect([...queued(ledger, queue)]).toEqual([3, 1, 2])
  expect(dequeue(ledger, queue)).toBe(3)
  enqueue(ledger, queue, 0)
  expect([dequeue(ledger, queue), dequeue(ledger, queue), dequeue(ledger, queue)]).toEqual([
    1, 2, 0,
  ])
  expect(dequeue(ledger, queue)).toBeUndefined()
})
