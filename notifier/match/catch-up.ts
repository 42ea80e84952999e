/**
 * Reads events again for a webhook that is behind, in parts: the records of a part and the sequence
 * after it go into the ledger in one message, so a crash neither repeats nor loses any. Deliveries
 * that already wait are left alone; dead ones start again.
 */
import {
  type DeliveryKey,
  type DeliveryRecord,
  keyText,
  type LedgerRecord,
  type SourceName,
  sourceNames,
  type Trigger,
} from '../../core/delivery/delivery.ts'
import { deliveryAt, type Ledger, slotsOf } from '../../core/delivery/ledger.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'
import type { WebhookIndex } from '../../core/delivery/webhook-match.ts'
import type { Wal } from '../ledger/wal.ts'
import type { SourceItem, Sources } from '../sources/source.ts'
import { type BookEntry, indexOfOne, subscriptionOf } from '../webhook-book.ts'
import type { Matcher } from './matcher.ts'

export type CatchUp = {
  /** Starts if the webhook is behind, has room and is open; otherwise does nothing. */
  readonly look: (webhook: WebhookNumber) => void
  /** The deliveries it creates next count as recovered at the owner's request. */
  readonly markRecovering: (webhook: WebhookNumber) => void
  readonly settled: () => Promise<void>
}

type Options = {
  readonly ledger: Ledger
  readonly wal: Pick<Wal, 'add' | 'settled'>
  readonly matcher: Matcher
  readonly entryOf: (webhook: WebhookNumber) => BookEntry | undefined
  readonly sources: Sources
  readonly nowMs: () => number
  readonly stop: AbortSignal
  readonly onFailure: (error: unknown) => void
}

const partRecords = 2_000
const atOnce = 2

export function createCatchUp(options: Options): CatchUp {
  const { ledger, wal, matcher, entryOf, sources, nowMs, stop, onFailure } = options
  const waiting = new Set<WebhookNumber>()
  const running = new Map<WebhookNumber, Promise<void>>()
  const recovering = new Set<WebhookNumber>()

  const isWanted = (webhook: WebhookNumber): boolean =>
    entryOf(webhook)?.isOpen === true &&
    matcher.hasDrained(webhook) &&
    sourceNames.some((source) => matcher.behindOf(webhook, source) > 0)

  const look = (webhook: WebhookNumber): void => {
    if (stop.aborted || running.has(webhook) || !isWanted(webhook)) return
    waiting.add(webhook)
    startNext()
  }

  function startNext(): void {
    for (const webhook of waiting) {
      if (running.size >= atOnce || stop.aborted) return
      waiting.delete(webhook)
      const done = (async () => {
        for (const source of sourceNames) await read(webhook, source)
      })()
        .catch(onFailure)
        .finally(() => {
          running.delete(webhook)
          startNext()
          look(webhook)
        })
      running.set(webhook, done)
    }
  }

  async function read(webhook: WebhookNumber, source: SourceName): Promise<void> {
    const from = matcher.behindOf(webhook, source)
    const entry = entryOf(webhook)
    if (from === 0 || entry === undefined) return
    const index = indexOfOne(subscriptionOf(webhook, entry.webhook))
    const known = knownKeys(ledger, webhook)
    let part: LedgerRecord[] = []
    for (let next = from; ; ) {
      // another recovery was requested meanwhile, or the webhook is deleted
      if (stop.aborted || matcher.behindOf(webhook, source) !== from) return
      const end = matcher.cursor(source) ?? 0
      if (next > end) return finish(webhook, source, part)
      for await (const item of sources[source].read(next, end)) {
        if (stop.aborted || matcher.behindOf(webhook, source) !== from) return
        for (const record of recordsFor(item, index, known, webhook)) part.push(record)
        if (part.length < partRecords && matcher.roomOf(webhook) > 0) continue
        wal.add([...part, matcher.setBehind(webhook, source, item.sequence + 1)])
        part = []
        await wal.settled()
        return
      }
      next = end + 1
    }
  }

  /** Everything up to the live items is read: from now on live matching is enough. */
  function finish(webhook: WebhookNumber, source: SourceName, part: readonly LedgerRecord[]): void {
    wal.add([...part, matcher.setBehind(webhook, source, 0)])
    recovering.delete(webhook)
  }

  function recordsFor(
    item: SourceItem,
    index: WebhookIndex,
    known: ReadonlyMap<string, DeliveryRecord>,
    webhook: WebhookNumber,
  ): LedgerRecord[] {
    const trigger: Trigger = recovering.has(webhook) ? 'recover' : 'event'
    const records: LedgerRecord[] = []
    item.match(index, (number, kind, detail) => {
      const key: DeliveryKey = { webhook: number, kind, sequence: item.sequence, detail }
      const delivery = known.get(keyText(key))
      if (delivery === undefined) records.push(matcher.create(key, trigger))
      else if (delivery.type === 'dead')
        records.push({ ...delivery, type: 'wait', trigger, attempts: 0, dueMs: nowMs() })
    })
    return records
  }

  return {
    look,
    markRecovering: (webhook) => void recovering.add(webhook),
    settled: async () => {
      await Promise.all(running.values())
    },
  }
}

function knownKeys(ledger: Ledger, webhook: WebhookNumber): Map<string, DeliveryRecord> {
  const known = new Map<string, DeliveryRecord>()
  for (const slot of slotsOf(ledger, webhook)) {
    const delivery = deliveryAt(ledger, slot)
    known.set(keyText(delivery), delivery)
  }
  return known
}
