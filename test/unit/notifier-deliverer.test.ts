import { expect, test } from 'vitest'
import { mapSources } from '../../core/delivery/delivery.ts'
import { applyRecord, createLedger } from '../../core/delivery/ledger.ts'
import { createEndpoint } from '../../notifier/scheduler/endpoints.ts'
import { createDeliverer, type DelivererContext } from '../../notifier/send/deliverer.ts'
import type { Source, SourceItem } from '../../notifier/sources/source.ts'
import type { BookEntry } from '../../notifier/webhook-book.ts'

const none = (async function* (): AsyncGenerator<SourceItem> {})()

test('a delivery that fails on our side is tried later, and stops nothing else', async () => {
  const ledger = createLedger()
  applyRecord(ledger, {
    type: 'new',
    webhook: 4,
    kind: 'reading.new',
    sequence: 7,
    detail: 0,
    trigger: 'event',
    slot: 0,
    attempts: 0,
    dueMs: 1_000,
  })
  const reports: unknown[] = []
  const broken = new TypeError('broken')
  const context: Pick<DelivererContext, 'sources' | 'onBroken' | 'random'> = {
    sources: mapSources(
      (name): Source => ({
        name,
        follow: () => none,
        read: () => none,
        cursorSince: () => Promise.resolve(0),
        resumeAfter: ({ cursor }) => Promise.resolve(cursor),
        occurrence: () => Promise.reject(broken),
      }),
    ),
    onBroken: (delivery, error) => reports.push([delivery.sequence, error]),
    random: () => 0.5,
  }
  // everything it reads before it fails is here
  const deliver = createDeliverer(context as DelivererContext, {
    ledger,
    nowMs: () => 1_000,
    entryOf: () => ({}) as BookEntry,
  })
  const flight = { abort: new AbortController(), isDone: false }
  const { records } = await deliver(createEndpoint(4), 0, flight)
  expect(reports).toEqual([[7, broken]])
  expect(records).toEqual([expect.objectContaining({ type: 'wait', attempts: 1, dueMs: 6_000 })])
})
