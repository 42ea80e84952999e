/**
 * Events into deliveries: each item of the streams is matched once, in order, and its records and
 * the position behind it go into the ledger together. An endpoint for which so many wait (20,000) gets no more
 * records: it is behind from that sequence on, and `catch-up.ts` reads its events again when it has
 * drained.
 */
import { type DeliveryKey, type EventKind, type Trigger } from '../core/delivery/delivery.ts'
import {
  deliveryAt,
  type Ledger,
  reserveSlot,
  slotStates,
  stateOf,
} from '../core/delivery/ledger.ts'
import type { DeliveryRecord, LedgerRecord, SourceStream } from '../core/delivery/ledger-record.ts'
import { sourceOf } from '../core/delivery/ledger-record.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import type { WebhookIndex } from '../core/delivery/webhook-match.ts'
import { minuteMs } from '../core/time.ts'
import type { Cursors } from '../runtime/nats/wal-message.ts'
import { type FeedItem, matchItem } from './feed.ts'
import type { NotifierMetrics } from './metrics.ts'
import type { Wal } from './wal.ts'
import type { BookEntry } from './webhook-book.ts'

/** The broker's clock and the API's are not the same. */
const clockSlackMs = minuteMs

export type Matcher = {
  /** Matches a live item against all webhooks of the shard. */
  readonly take: (item: FeedItem) => void
  /** A record for a delivery that has none. */
  readonly create: (key: DeliveryKey, trigger: Trigger) => DeliveryRecord
  /** Call when a `new` record is folded. */
  readonly folded: (webhook: WebhookNumber) => void
  /** How many more deliveries may wait for an endpoint. */
  readonly roomOf: (webhook: WebhookNumber) => number
  /** At least half of its places are free again. */
  readonly hasDrained: (webhook: WebhookNumber) => boolean
  readonly behindOf: (webhook: WebhookNumber, stream: SourceStream) => number
  /** The record by which an endpoint is behind from a sequence on, or not any more (0). */
  readonly setBehind: (webhook: WebhookNumber, stream: SourceStream, from: number) => LedgerRecord
  readonly forget: (webhook: WebhookNumber) => void
  /** How far the live items have been matched. */
  readonly cursor: (stream: SourceStream) => number
  readonly setCursor: (stream: SourceStream, sequence: number) => void
}

type Options = {
  readonly ledger: Ledger
  readonly wal: Pick<Wal, 'add'>
  readonly index: WebhookIndex
  readonly entryOf: (webhook: WebhookNumber) => BookEntry | undefined
  readonly cursors: Cursors
  readonly metrics: NotifierMetrics
  readonly nowMs: () => number
  /** Deliveries that may wait for an endpoint. */
  readonly mostWaiting: number
}

export function createMatcher(options: Options): Matcher {
  const { ledger, wal, index, entryOf, metrics, nowMs, mostWaiting } = options
  const cursors: Record<SourceStream, number> = { ...options.cursors }
  /** Records made and not yet folded. */
  const ahead = new Map<WebhookNumber, number>()
  /** Ahead of the ledger's, where set. */
  const behind = {
    events: new Map<WebhookNumber, number>(),
    readings: new Map<WebhookNumber, number>(),
  }
  const torn = tornKeys(ledger, options.cursors)

  const behindOf = (webhook: WebhookNumber, stream: SourceStream): number =>
    behind[stream].get(webhook) ?? ledger.hooks.get(webhook)?.behind[stream] ?? 0

  const roomOf = (webhook: WebhookNumber): number =>
    mostWaiting - (ledger.hooks.get(webhook)?.pending ?? 0) - (ahead.get(webhook) ?? 0)

  const setBehind: Matcher['setBehind'] = (webhook, stream, from) => {
    behind[stream].set(webhook, from)
    return { type: 'hook', webhook, says: { op: 'behind', stream, from } }
  }

  const create: Matcher['create'] = (key, trigger) => {
    ahead.set(key.webhook, (ahead.get(key.webhook) ?? 0) + 1)
    metrics.created.inc({ event: key.kind })
    const slot = reserveSlot(ledger)
    return { type: 'new', ...key, trigger, slot, attempts: 0, dueMs: nowMs() }
  }

  const plan = (
    item: FeedItem,
    webhook: WebhookNumber,
    kind: EventKind,
    detail: number,
  ): LedgerRecord | undefined => {
    const { stream, sequence } = item
    const entry = entryOf(webhook)
    if (entry === undefined || item.storedMs < entry.createdMs - clockSlackMs) return undefined
    if (behindOf(webhook, stream) > 0) return undefined
    if (torn.size > 0 && torn.has(textOf({ webhook, kind, sequence, detail }))) return undefined
    if (roomOf(webhook) > 0) return create({ webhook, kind, sequence, detail }, 'event')
    metrics.behind.inc()
    return setBehind(webhook, stream, sequence)
  }

  return {
    take: (item) => {
      if (item.sequence <= cursors[item.stream]) return
      const records: LedgerRecord[] = []
      matchItem(index, item, (webhook, kind, detail) => {
        const record = plan(item, webhook, kind, detail)
        if (record !== undefined) records.push(record)
      })
      cursors[item.stream] = item.sequence
      wal.add(records, { [item.stream]: item.sequence })
    },
    create,
    folded: (webhook) => {
      const left = (ahead.get(webhook) ?? 0) - 1
      if (left > 0) ahead.set(webhook, left)
      else ahead.delete(webhook)
    },
    roomOf,
    hasDrained: (webhook) => roomOf(webhook) > mostWaiting / 2,
    behindOf,
    setBehind,
    forget: (webhook) => {
      behind.events.delete(webhook)
      behind.readings.delete(webhook)
    },
    cursor: (stream) => cursors[stream],
    setCursor: (stream, sequence) => {
      cursors[stream] = sequence
      wal.add([], { [stream]: sequence })
    },
  }
}

const textOf = ({ webhook, kind, sequence, detail }: DeliveryKey): string =>
  `${webhook}/${kind}/${sequence}/${detail}`

/**
 * An event for very many webhooks takes more than one message; whoever died between two of them has
 * written some records of an event that lies behind the cursor.
 */
function tornKeys(ledger: Ledger, cursors: Cursors): Set<string> {
  const torn = new Set<string>()
  for (let slot = 0; slot < ledger.top; slot++) {
    if (stateOf(ledger, slot) === slotStates.free) continue
    const sequence = (ledger.sequenceHigh[slot] ?? 0) * 2 ** 32 + (ledger.sequenceLow[slot] ?? 0)
    if (sequence <= Math.min(cursors.events, cursors.readings || cursors.events)) continue
    const delivery = deliveryAt(ledger, slot)
    if (delivery.sequence > cursors[sourceOf(delivery.kind)]) torn.add(textOf(delivery))
  }
  return torn
}
