import { expect, test } from 'vitest'
import type { LedgerRecord } from '../../core/delivery/delivery.ts'
import { applyRecord, createLedger } from '../../core/delivery/ledger.ts'
import { createWebhookIndex } from '../../core/delivery/webhook-match.ts'
import { readNotifierConfig } from '../../notifier/config.ts'
import { createMatcher } from '../../notifier/match/matcher.ts'
import { notifierMetrics } from '../../notifier/metrics.ts'
import { createLimits } from '../../notifier/scheduler/limits.ts'
import { createScheduler } from '../../notifier/scheduler/scheduler.ts'
import type { SourceItem } from '../../notifier/sources/source.ts'
import type { BookEntry } from '../../notifier/webhook-book.ts'
import { openMetrics } from '../../runtime/metrics.ts'
import { matchEvent } from '../../schemas/log/event.ts'
import { noCursors } from '../../schemas/webhooks/ledger-records.ts'
import { eventually } from '../support/eventually.ts'
import { makeWebhook, rise } from '../support/notifier.ts'

const { mostWaiting, rate } = readNotifierConfig({ env: {}, flags: {} })
const numbers = { total: 8, unproven: 4, perAccount: 3, uncommitted: 2 }

test('an account gets its own places, and no more', () => {
  const limits = createLimits(numbers)
  expect([1, 2, 3, 4].map(() => limits.take('a', true))).toEqual([
    'taken',
    'taken',
    'taken',
    'account',
  ])
  expect(limits.take('b', true)).toBe('taken')
  limits.give('a', true)
  expect(limits.take('a', true)).toBe('taken')
})

test('endpoints that have not answered yet leave half of the places to those that have', () => {
  const limits = createLimits(numbers)
  const unproven = ['a', 'b', 'c', 'd', 'e'].map((account) => limits.take(account, false))
  expect(unproven).toEqual(['taken', 'taken', 'taken', 'taken', 'unproven'])
  const proven = ['f', 'g', 'h', 'i', 'j'].map((account) => limits.take(account, true))
  expect(proven).toEqual(['taken', 'taken', 'taken', 'taken', 'total'])
})

test('while too many results are not durable no attempt starts', () => {
  const limits = createLimits(numbers)
  const freed: (string | undefined)[] = []
  limits.onFree((account) => freed.push(account))
  limits.resultsWaiting(2)
  expect(limits.take('a', true)).toBe('uncommitted')
  limits.resultsWaiting(-1)
  expect([limits.take('a', true), freed]).toEqual(['taken', [undefined]])
})

const entryOf = (number: number): BookEntry => ({
  webhook: makeWebhook({ id: 'wh_0000001' }),
  number,
  account: 'a',
  isOpen: true,
  createdMs: 0,
  updatedMs: 0,
})
const item = (sequence: number): SourceItem => ({
  source: 'events',
  sequence,
  storedMs: 1_000_000,
  pending: 0,
  match: (index, on) => matchEvent(rise(100, 180), index, on),
})

test('beyond 20,000 waiting deliveries an endpoint is behind from there on, once, and others are not', () => {
  const ledger = createLedger()
  const index = createWebhookIndex()
  const subscription = { events: ['aqi.high'], area: undefined, threshold: 150 } as const
  index.put({ ...subscription, number: 1, sensor: undefined })
  const written: LedgerRecord[] = []
  const matcher = createMatcher({
    ledger,
    index,
    entryOf,
    wal: { add: (records) => void written.push(...records) },
    cursors: noCursors,
    metrics: notifierMetrics(openMetrics('test')),
    nowMs: () => 5,
    mostWaiting,
  })
  for (let sequence = 1; sequence <= mostWaiting + 10; sequence++) matcher.take(item(sequence))
  const hooks = written.filter(({ type }) => type === 'hook')
  expect(hooks).toEqual([
    { type: 'hook', webhook: 1, change: { op: 'behind', source: 'events', from: mostWaiting + 1 } },
  ])
  expect(written).toHaveLength(mostWaiting + 1)
  expect(matcher.cursor('events')).toBe(mostWaiting + 10)
  index.put({ ...subscription, number: 2, sensor: undefined })
  matcher.take(item(mostWaiting + 11))
  expect(written.at(-1)).toMatchObject({ type: 'new', webhook: 2, sequence: mostWaiting + 11 })
  matcher.take(item(mostWaiting + 11))
  expect(written).toHaveLength(mostWaiting + 2)
})

test('an event from before the webhook was made is not delivered to it', () => {
  const index = createWebhookIndex()
  index.put({ number: 1, events: ['aqi.high'], sensor: undefined, area: undefined, threshold: 150 })
  const written: LedgerRecord[] = []
  const matcherFor = (createdMs: number) =>
    createMatcher({
      ledger: createLedger(),
      index,
      entryOf: (number) => ({ ...entryOf(number), createdMs }),
      wal: { add: (records) => void written.push(...records) },
      cursors: noCursors,
      metrics: notifierMetrics(openMetrics('test')),
      mostWaiting,
      nowMs: () => 5,
    })
  matcherFor(1_000_000 + 120_000).take(item(1))
  expect(written).toHaveLength(0)
  matcherFor(1_000_000).take(item(1))
  expect(written).toHaveLength(1)
})

test('records of an event that were written before a crash are not written again', () => {
  const ledger = createLedger()
  const index = createWebhookIndex()
  for (const number of [1, 2])
    index.put({ number, events: ['aqi.high'], sensor: undefined, area: undefined, threshold: 150 })
  // the first of two messages of event 7 was stored; the cursor was to follow with the second
  const first = {
    webhook: 1,
    kind: 'aqi.high',
    sequence: 7,
    detail: 150,
    trigger: 'event',
  } as const
  applyRecord(ledger, { type: 'new', ...first, slot: 0, attempts: 0, dueMs: 0 })
  const written: LedgerRecord[] = []
  const matcher = createMatcher({
    ledger,
    index,
    entryOf,
    wal: { add: (records) => void written.push(...records) },
    cursors: { ...noCursors, events: 6 },
    metrics: notifierMetrics(openMetrics('test')),
    nowMs: () => 5,
    mostWaiting,
  })
  matcher.take(item(7))
  expect(written).toMatchObject([{ type: 'new', webhook: 2, sequence: 7 }])
})

test('of what is due the urgent goes first, and one endpoint with 10,000 deliveries leaves room for the others', async () => {
  const ledger = createLedger()
  const begun: { webhook: number; slot: number }[] = []
  using scheduler = createScheduler({
    rate,
    ledger,
    limits: createLimits({ ...numbers, total: 6, perAccount: 100 }),
    receiverOf: () => ({ account: 'a', isOpen: true }),
    nowMs: () => 1_000,
    begin: ({ number }, slot) => void begun.push({ webhook: number, slot }),
  })
  const add = (slot: number, webhook: number, kind: 'aqi.high' | 'sensor.offline'): void => {
    applyRecord(ledger, {
      type: 'new',
      webhook,
      kind,
      trigger: 'event',
      detail: 0,
      slot,
      attempts: 0,
      sequence: slot + 1,
      dueMs: 0,
    })
    scheduler.schedule(slot)
  }
  for (let slot = 0; slot < 10_000; slot++) add(slot, 1, 'aqi.high')
  add(10_000, 1, 'sensor.offline')
  add(10_001, 2, 'aqi.high')
  add(10_002, 3, 'sensor.offline')
  await eventually('as many as allowed are started', () => begun.length === 3)
  // an endpoint that has not answered yet has one attempt at a time
  expect(begun).toEqual([
    { webhook: 1, slot: 10_000 },
    { webhook: 3, slot: 10_002 },
    { webhook: 2, slot: 10_001 },
  ])
})
