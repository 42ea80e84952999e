/**
 * A kind that is only a row, and a source that is only a row and a module, work everywhere: code
 * that lists kinds or sources by hand would leave them out here.
 */
import { headers } from '@nats-io/transport-node'
import { Ajv } from 'ajv'
import { afterAll, expect, test, vi } from 'vitest'
import type { Occurrence } from '../../notifier/sources/payload.ts'
import type { SourceItem, Sources } from '../../notifier/sources/source.ts'
import { eventually } from '../support/eventually.ts'

// Rows are read when the modules that derive from them are loaded, so they come first; and those
// modules are reloaded for this file, since the other unit tests share theirs.
vi.resetModules()
afterAll(() => void vi.resetModules())
const { eventKindRows, sourceRows } = await import('../../core/delivery/event-kinds.ts')
const kind = 'sky.green-at_night' as 'reading.new'
const source = 'sky' as 'readings'
Object.assign(eventKindRows, {
  [kind]: { number: 7, source, isUrgent: true, level: 2, words: 'The sky is green' },
})
Object.assign(sourceRows, {
  [source]: {
    header: 'Dw-Sky',
    behindOp: 6,
    holdsReadings: true,
    isAlwaysFollowed: false,
    level: 2,
  },
})

const { eventKinds, isUrgent, keyText, parseKeyText, sourceOf } = await import(
  '../../core/delivery/delivery.ts'
)
const { applyRecord, createLedger, deliveryAt } = await import('../../core/delivery/ledger.ts')
const { createWebhookIndex } = await import('../../core/delivery/webhook-match.ts')
const records = await import('../../schemas/webhooks/ledger-records.ts')
const snapshots = await import('../../schemas/webhooks/ledger-snapshot.ts')
const versions = await import('../../schemas/webhooks/ledger-records.ts')

test('it is listed, and its key is read back', () => {
  expect(eventKinds).toContain(kind)
  expect([isUrgent(kind), sourceOf(kind)]).toEqual([true, source])
  const key = { kind, sequence: 12, detail: 3 }
  expect(parseKeyText(keyText(key))).toEqual(key)
})

test('a webhook may subscribe to it, in the record, in a request and in the document', async () => {
  const { webhookEventsSchema } = await import('../../schemas/webhooks/webhook.ts')
  const { webhookBodySchemas } = await import('../../schemas/webhooks/webhook-bodies.ts')
  const { isShardRequest } = await import('../../schemas/webhooks/webhook-requests.ts')
  const { attemptSchema } = await import('../../schemas/webhooks/attempt.ts')
  const { openApi } = await import('../../api/openapi/document.ts')
  const { subscriptionOf } = await import('../../notifier/webhook-book.ts')
  const { makeWebhook } = await import('../support/notifier.ts')
  expect(new Ajv().validate(webhookEventsSchema, [...eventKinds])).toBe(true)
  expect(new Ajv().validate(webhookBodySchemas.test, { event: kind })).toBe(true)
  expect(isShardRequest({ op: 'test', webhook: 'wh_0000001', event: kind })).toBe(true)
  expect(attemptSchema.properties.event.enum).toContain(kind)
  expect(Object.keys(openApi.webhooks)).toContain(kind)
  expect(subscriptionOf(1, makeWebhook({ events: [kind] })).events).toEqual([kind])
})

test('it is in the ledger under its own kind, in a version that has it', async () => {
  const delivery = { webhook: 7, kind, sequence: 2 ** 33, detail: 9, trigger: 'event' } as const
  const record = { ...delivery, type: 'wait', slot: 0, attempts: 2, dueMs: 99 } as const
  const behind = { type: 'hook', webhook: 7, change: { op: 'behind', source, from: 5 } } as const
  const bytes = records.encodeRecords([record, behind])
  expect(records.areRecords(bytes)).toBe(true)
  expect(records.decodeRecords(bytes)).toEqual([record, behind])
  expect([record, behind].map(records.levelOfRecord)).toEqual([2, 2])
  const ledger = createLedger()
  records.foldRecords(ledger, bytes)
  expect(deliveryAt(ledger, 0)).toEqual(record)
  const { chunks, level } = snapshots.encodeLedger(ledger)
  expect([chunks.flatMap((chunk) => records.decodeRecords(chunk)), level]).toEqual([
    [behind, record],
    2,
  ])
  const { neededReadings } = await import('../../notifier/match/needed-readings.ts')
  expect(neededReadings(ledger, versions.noCursors)).toBe(5)
  expect(neededReadings(createLedger(), { ...versions.noCursors, [source]: 2 })).toBe(3)
})

test('its source’s cursor is read back', async () => {
  const { readWal, setWalHeaders } = await import('../../runtime/nats/wal-message.ts')
  const cursors = { ...versions.noCursors, events: 3, [source]: 44 }
  const header = headers()
  const version = versions.versionOf(cursors, 1)
  setWalHeaders(header, { worker: 'w', write: 1, cursors }, version)
  header.set('Nats-Expected-Last-Subject-Sequence', '0')
  const message = { seq: 1, subject: 'dw.0.wal', headers: header, data: new Uint8Array() }
  expect(readWal('DW_0', message)?.cursors).toEqual(cursors)
  expect(version).toBe(2)
  expect(versions.readCursors((name) => cursors[name])).toEqual(cursors)
})

test('it is matched, sent before what is not urgent, and delivered', async () => {
  const { createMatcher } = await import('../../notifier/match/matcher.ts')
  const { notifierMetrics } = await import('../../notifier/metrics.ts')
  const { createScheduler } = await import('../../notifier/scheduler/scheduler.ts')
  const { createLimits } = await import('../../notifier/scheduler/limits.ts')
  const { createDeliverer } = await import('../../notifier/send/deliverer.ts')
  const { openMetrics } = await import('../../runtime/metrics.ts')
  const ledger = createLedger()
  const index = createWebhookIndex()
  const wish = { sensor: undefined, area: undefined, threshold: 150 }
  index.put({ number: 1, events: ['aqi.high', kind], ...wish })
  expect(index.wants(source)).toBe(true)
  const place = { sensor: 'S1', area: 'Yaba' }
  const item = (over: Partial<SourceItem>): SourceItem => ({
    source,
    sequence: 8,
    storedMs: 1_000_000,
    pending: 0,
    match: (to, on) => to.match(kind, place, 4, on),
    ...over,
  })
  const matcher = createMatcher({
    ledger,
    index,
    entryOf: () => ({ createdMs: 0 }) as never,
    wal: { add: (added) => added.forEach((record) => applyRecord(ledger, record)) },
    cursors: { ...versions.noCursors, [source]: 0 },
    metrics: notifierMetrics(openMetrics('test')),
    nowMs: () => 5,
    mostWaiting: 10,
  })
  const rise: SourceItem['match'] = (to, on) => to.rise(place, { from: 100, to: 200 }, on)
  matcher.take(item({ source: 'events', sequence: 7, match: rise }))
  matcher.take(item({}))
  expect(matcher.cursor(source)).toBe(8)

  const begun: number[] = []
  using scheduler = createScheduler({
    ledger,
    limits: createLimits(),
    rate: { perSecond: 10, burst: 10 },
    receiverOf: () => ({ account: 'a', isOpen: true }),
    nowMs: () => 1_000,
    begin: (_, slot) => void begun.push(slot),
  })
  for (const slot of [0, 1]) scheduler.schedule(slot)
  await eventually('the first is begun', () => begun.length === 1)
  const slot = begun[0] ?? -1
  expect(deliveryAt(ledger, slot)).toMatchObject({ kind, sequence: 8, detail: 4 })

  const asked: unknown[] = []
  const occurrence: Sources['readings']['occurrence'] = (key) => {
    asked.push(key)
    return Promise.resolve<Occurrence | undefined>(undefined)
  }
  const context = {
    sources: { [source]: { occurrence } },
    metrics: notifierMetrics(openMetrics('test')),
  }
  const deliver = createDeliverer(context as never, {
    ledger,
    nowMs: () => 1_000,
    entryOf: () => ({}) as never,
  })
  const flight = { abort: new AbortController(), isDone: false }
  await deliver(scheduler.endpointOf(1), slot, flight)
  expect(asked).toEqual([expect.objectContaining({ kind, sequence: 8, detail: 4 })])
})
