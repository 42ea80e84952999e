/**
 * Turns events into deliveries: each item of the streams is matched once, in order, and its records
 * and the position after it go into the ledger together. An endpoint with too many waiting
 * deliveries (20,000) gets no more records: it is behind from that sequence on, and `catch-up.ts`
 * reads its events again when enough have been sent.
 */
import {
  type Cursors,
  type DeliveryKey,
  type DeliveryRecord,
  type EventKind,
  type LedgerRecord,
  type SourceName,
  sourceOf,
  type Trigger,
} from '../../core/delivery/delivery.ts'
import {
  deliveryAt,
  kindOfBits,
  type Ledger,
  reserveSlot,
  sequenceOf,
  slotStates,
  stateOf,
} from '../../core/delivery/ledger.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'
import type { WebhookIndex } from '../../core/delivery/webhook-match.ts'
import { minuteMs } from '../../core/time.ts'
import type { Wal } from '../ledger/wal.ts'
import type { NotifierMetrics } from '../metrics.ts'
import type { SourceItem } from '../sources/source.ts'
import type { BookEntry } from '../webhook-book.ts'

/** The clocks of the broker and the API may differ. */
const clockSlackMs = minuteMs

export type Matcher = {
  /** Matches a live item against all webhooks of the shard. */
  readonly take: (item: SourceItem) => void
  /** A record for a delivery that has none. */
  readonly create: (key: DeliveryKey, trigger: Trigger) => DeliveryRecord
  /** Call when a `new` record is folded. */
  readonly folded: (webhook: WebhookNumber) => void
  /** How many more deliveries may wait for an endpoint. */
  readonly roomOf: (webhook: WebhookNumber) => number
  /** Whether at least half of its places are free again. */
  readonly hasDrained: (webhook: WebhookNumber) => boolean
  /** The sequence from which the source must be read again for the webhook; 0: it is not behind. */
  readonly behindOf: (webhook: WebhookNumber, source: SourceName) => number
  /**
   * The record that sets from which sequence an endpoint is behind; 0: it is not behind any more.
   */
  readonly setBehind: (webhook: WebhookNumber, source: SourceName, from: number) => LedgerRecord
  readonly forget: (webhook: WebhookNumber) => void
  /** How far the live items have been matched; undefined: no webhook wants any. */
  readonly cursor: (source: SourceName) => number | undefined
  readonly setCursor: (source: SourceName, sequence: number | undefined) => void
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
  const cursors: Record<SourceName, number | undefined> = { ...options.cursors }
  /** Records created but not yet folded. */
  const ahead = new Map<WebhookNumber, number>()
  /** Overrides the ledger where set: these records are not folded yet. */
  const behind = new Map<WebhookNumber, Map<SourceName, number>>()
  const torn = tornKeys(ledger, options.cursors)

  const behindOf = (webhook: WebhookNumber, source: SourceName): number =>
    behind.get(webhook)?.get(source) ?? ledger.hooks.get(webhook)?.behind.get(source) ?? 0

  const roomOf = (webhook: WebhookNumber): number =>
    mostWaiting - (ledger.hooks.get(webhook)?.pending ?? 0) - (ahead.get(webhook) ?? 0)

  const setBehind: Matcher['setBehind'] = (webhook, source, from) => {
    behind.set(webhook, (behind.get(webhook) ?? new Map<SourceName, number>()).set(source, from))
    return { type: 'hook', webhook, change: { op: 'behind', source, from } }
  }

  const create: Matcher['create'] = (key, trigger) => {
    ahead.set(key.webhook, (ahead.get(key.webhook) ?? 0) + 1)
    metrics.created.inc({ event: key.kind })
    const slot = reserveSlot(ledger)
    return { type: 'new', ...key, trigger, slot, attempts: 0, dueMs: nowMs() }
  }

  const plan = (
    item: SourceItem,
    webhook: WebhookNumber,
    kind: EventKind,
    detail: number,
  ): LedgerRecord | undefined => {
    const { source, sequence } = item
    const entry = entryOf(webhook)
    if (entry === undefined || item.storedMs < entry.createdMs - clockSlackMs) return undefined
    if (behindOf(webhook, source) > 0) return undefined
    if (torn.size > 0 && torn.has(textOf({ webhook, kind, sequence, detail }))) return undefined
    if (roomOf(webhook) > 0) return create({ webhook, kind, sequence, detail }, 'event')
    metrics.behind.inc()
    return setBehind(webhook, source, sequence)
  }

  return {
    take: (item) => {
      const { source, sequence } = item
      const cursor = cursors[source]
      if (cursor === undefined || sequence <= cursor) return
      const records: LedgerRecord[] = []
      item.match(index, (webhook, kind, detail) => {
        const record = plan(item, webhook, kind, detail)
        if (record !== undefined) records.push(record)
      })
      cursors[source] = sequence
      wal.add(records, { [source]: sequence })
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
    forget: (webhook) => void behind.delete(webhook),
    cursor: (source) => cursors[source],
    setCursor: (source, sequence) => {
      cursors[source] = sequence
      wal.add([], { [source]: sequence })
    },
  }
}

const textOf = ({ webhook, kind, sequence, detail }: DeliveryKey): string =>
  `${webhook}/${kind}/${sequence}/${detail}`

/**
 * An event for very many webhooks takes more than one message; a process that died between two of
 * them has written only some records of an event that is after the cursor.
 */
function tornKeys(ledger: Ledger, cursors: Cursors): Set<string> {
  const torn = new Set<string>()
  for (let slot = 0; slot < ledger.top; slot++) {
    if (stateOf(ledger, slot) === slotStates.free) continue
    const cursor = cursors[sourceOf(kindOfBits(ledger.bits[slot] ?? 0))]
    if (sequenceOf(ledger, slot) > (cursor ?? 0)) torn.add(textOf(deliveryAt(ledger, slot)))
  }
  return torn
}
