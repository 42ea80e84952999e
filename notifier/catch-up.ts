/**
 * Reads again the events that a webhook is behind with, a part at a time: the records of a part and
 * the sequence behind it go into the ledger in one message, so a crash repeats none and loses none.
 * Deliveries that wait already are left alone; dead ones begin anew.
 */
import { type DeliveryKey, keyText, type Trigger } from '../core/delivery/delivery.ts'
import { deliveryAt, type Ledger, slotsOf } from '../core/delivery/ledger.ts'
import type { DeliveryRecord, LedgerRecord, SourceStream } from '../core/delivery/ledger-record.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import type { WebhookIndex } from '../core/delivery/webhook-match.ts'
import { type Feed, type FeedItem, indexOfOne, matchItem } from './feed.ts'
import type { Matcher } from './matcher.ts'
import type { Wal } from './wal.ts'
import { type BookEntry, subscriptionOf } from './webhook-book.ts'

export type CatchUp = {
  /** Begins where the webhook is behind, has room and is open; nothing otherwise. */
  readonly look: (webhook: WebhookNumber) => void
  /** What it finds next counts as recovered at somebody's wish. */
  readonly markRecovering: (webhook: WebhookNumber) => void
  readonly settled: () => Promise<void>
}

type Options = {
  readonly ledger: Ledger
  readonly wal: Pick<Wal, 'add' | 'settled'>
  readonly matcher: Matcher
  readonly entryOf: (webhook: WebhookNumber) => BookEntry | undefined
  readonly openFeed: (stream: SourceStream, fromSeq: number) => Promise<Feed>
  readonly nowMs: () => number
  readonly stop: AbortSignal
  readonly onFailure: (error: unknown) => void
}

const partRecords = 2_000
const atOnce = 2

export function createCatchUp(options: Options): CatchUp {
  const { ledger, wal, matcher, entryOf, openFeed, nowMs, stop, onFailure } = options
  const waiting = new Set<WebhookNumber>()
  const running = new Map<WebhookNumber, Promise<void>>()
  const recovering = new Set<WebhookNumber>()

  const isWanted = (webhook: WebhookNumber): boolean =>
    entryOf(webhook)?.isOpen === true &&
    matcher.hasDrained(webhook) &&
    (matcher.behindOf(webhook, 'events') > 0 || matcher.behindOf(webhook, 'readings') > 0)

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
        for (const stream of ['events', 'readings'] as const) await read(webhook, stream)
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

  async function read(webhook: WebhookNumber, stream: SourceStream): Promise<void> {
    const from = matcher.behindOf(webhook, stream)
    const entry = entryOf(webhook)
    if (from === 0 || entry === undefined) return
    await using feed = await openFeed(stream, from)
    if (feed.pending === 0) return finish(webhook, stream, from, [])
    const index = indexOfOne(subscriptionOf(webhook, entry.webhook))
    const known = knownKeys(ledger, webhook)
    let part: LedgerRecord[] = []
    for await (const item of feed) {
      // somebody asked for more meanwhile, or the webhook is gone
      if (stop.aborted || matcher.behindOf(webhook, stream) !== from) break
      for (const record of recordsFor(item, index, known, webhook)) part.push(record)
      const isLast = item.sequence >= matcher.cursor(stream) || item.pending === 0
      if (isLast) return finish(webhook, stream, from, part)
      if (part.length < partRecords && matcher.roomOf(webhook) > 0) continue
      wal.add([...part, matcher.setBehind(webhook, stream, item.sequence + 1)])
      part = []
      await wal.settled()
      return
    }
  }

  /** All is read up to where the live items are: from now on those are enough. */
  function finish(
    webhook: WebhookNumber,
    stream: SourceStream,
    from: number,
    part: readonly LedgerRecord[],
  ): void {
    if (matcher.behindOf(webhook, stream) !== from) return
    wal.add([...part, matcher.setBehind(webhook, stream, 0)])
    recovering.delete(webhook)
  }

  function recordsFor(
    item: FeedItem,
    index: WebhookIndex,
    known: ReadonlyMap<string, DeliveryRecord>,
    webhook: WebhookNumber,
  ): LedgerRecord[] {
    const trigger: Trigger = recovering.has(webhook) ? 'recover' : 'event'
    const records: LedgerRecord[] = []
    matchItem(index, item, (number, kind, detail) => {
      const key: DeliveryKey = { webhook: number, kind, sequence: item.sequence, detail }
      const found = known.get(keyText(key))
      if (found === undefined) records.push(matcher.create(key, trigger))
      else if (found.type === 'dead')
        records.push({ ...found, type: 'wait', trigger, attempts: 0, dueMs: nowMs() })
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
