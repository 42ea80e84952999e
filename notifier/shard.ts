/**
 * The owner of one shard.
 *
 *     recovering ──▶ claiming ──▶ working ──▶ stopping ──▶ stopped
 *                       └──────────┴── fenced, or an error nobody foresaw ──▶ the process ends
 *
 * Claiming writes a record of our own: from then on whoever owned the shard before can write nothing
 * more. Everything that changes the ledger passes through its log (`wal.ts`) and is folded when it
 * is durable; a POST is made only for what is folded.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { RateLimit } from '../core/access/rate-limit.ts'
import { wheelTickMs } from '../core/delivery/due-wheel.ts'
import {
  applyRecord,
  clearMark,
  deliveryAt,
  hasMark,
  slotMarks,
  slotStates,
  slotsOf,
  stateOf,
} from '../core/delivery/ledger.ts'
import type { LedgerRecord } from '../core/delivery/ledger-record.ts'
import { shardOf, type WebhookNumber } from '../core/delivery/webhook-id.ts'
import { secondMs } from '../core/time.ts'
import { TryAgain } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { eventsStream } from '../schemas/subjects.ts'
import { answerRequests } from './answers.ts'
import { createCatchUp } from './catch-up.ts'
import { createDeliverer, type DelivererContext } from './deliverer.ts'
import type { Endpoint } from './endpoint.ts'
import { openFeed, streamNames } from './feed.ts'
import { followStreams } from './follow.ts'
import type { Limits } from './limits.ts'
import { createMatcher } from './matcher.ts'
import { neededReadings } from './needed-readings.ts'
import { recoverLedger } from './recover.ts'
import { resumeAfter } from './resume.ts'
import { createScheduler, type Receiver } from './scheduler.ts'
import { ledgerSnapshotWriter } from './snapshot.ts'
import { snapshotKeeper } from './snapshot-keeper.ts'
import { openWal, type WalContext } from './wal.ts'
import type { WebhookBook } from './webhook-book.ts'

export type ShardContext = WalContext &
  DelivererContext & {
    readonly worker: string
    readonly limits: Limits
    /** Of one endpoint. */
    readonly rate: RateLimit
    readonly mostWaiting: number
    readonly logger: Logger
    /** A clock that never goes back, ms since the epoch, not before `leastMs`. */
    readonly clock: (leastMs: number) => () => number
    readonly onFatal: (error: unknown) => void
    /** Somebody else's now, by the leases. */
    readonly isTaken: (shard: number) => Promise<boolean>
  }

export type Shard = {
  readonly shard: number
  /** No new attempts; those under way end or are given up, and what they said is written. */
  readonly stop: () => Promise<void>
  readonly oldestDueMs: () => number
  readonly inBreaker: () => number
  readonly counts: () => { readonly pending: number; readonly dead: number }
  /** The oldest message of READINGS that a delivery of ours, made or to be made, needs. */
  readonly neededReadings: () => number | undefined
}

const cursorsEveryMs = 10 * secondMs
/** Matching waits while so many records are not durable. */
const mostUnwritten = 5_000
/** An attempt under way at the end has so long; then it is given up, and made again later. */
const lastAttemptsMs = 4 * secondMs
/** A webhook's dead deliveries are kept up to this many; the oldest go, some at a time. */
const mostDead = 1_000
const deadAtOnce = 100

export async function startShard(context: ShardContext, shard: number): Promise<Shard> {
  const { nc, book, limits, logger, pause } = context
  const ending = new AbortController()
  const stop = AbortSignal.any([context.stop, ending.signal])
  const recovered = await recoverLedger(nc, shard)
  const { ledger } = recovered
  const nowMs = context.clock(recovered.lastTimeMs)
  const entryOf = (webhook: WebhookNumber) => book.get(webhook)
  const receiverOf = (webhook: WebhookNumber): Receiver | undefined => book.get(webhook)
  const cursors = await firstCursors(nc, recovered.lastSeq, recovered.cursors, book.size())

  const wal = openWal({
    ...context,
    shard,
    lastSeq: recovered.lastSeq,
    cursors,
    onCommitted: (records, seconds) => {
      context.metrics.commit.observe(seconds)
      fold(records)
    },
  })
  const snapshots = snapshotKeeper({
    ledger,
    position: wal.position,
    write: ledgerSnapshotWriter(context, shard),
    startMs: performance.now(),
    onFailure: (error) => logger.warn({ err: error, shard }, 'snapshot: trying again later'),
  })
  if (stop.aborted) throw new TryAgain(`stopped before shard ${shard} was claimed`)
  // whoever slept since the lease came would build on what the next owner wrote, and put him out
  if (await context.isTaken(shard))
    throw new TryAgain(`shard ${shard} was taken before it was claimed: starting anew`)
  wal.add([{ type: 'epoch', atMs: nowMs() }])
  await wal.settled()
  if (wal.position().seq <= recovered.lastSeq)
    throw new TryAgain(`shard ${shard} could not be claimed`)

  const index = book.index(shard)
  const { metrics } = context
  const { mostWaiting } = context
  const matcher = createMatcher({
    ledger,
    wal,
    index,
    entryOf,
    cursors,
    metrics,
    nowMs,
    mostWaiting,
  })
  const deliver = createDeliverer(context, { ledger, nowMs, entryOf })
  const catchUp = createCatchUp({
    ledger,
    wal,
    matcher,
    entryOf,
    nowMs,
    stop,
    openFeed: (stream, sequence) => openFeed(nc, stream, { sequence }),
    onFailure: (error) => logger.warn({ err: error, shard }, 'catching up: trying again later'),
  })
  const scheduler = createScheduler({
    ledger,
    limits,
    rate: context.rate,
    receiverOf,
    nowMs,
    begin: (endpoint, slot) => void attempt(endpoint, slot).catch(context.onFatal),
  })

  async function attempt(endpoint: Endpoint, slot: number): Promise<void> {
    const flight = { abort: new AbortController(), isDone: false }
    endpoint.inFlight.set(slot, flight)
    const { isProven } = endpoint
    const account = receiverOf(endpoint.number)?.account ?? ''
    const { records } = await deliver(endpoint, slot, flight)
    flight.isDone = true
    endpoint.busy--
    if (records.length > 0) {
      limits.resultsWaiting(1)
      wal.add(records)
    } else {
      // cancelled: the slot stays as it is, and is dropped or tried again
      endpoint.inFlight.delete(slot)
      clearMark(ledger, slot, slotMarks.active)
      if (!ending.signal.aborted && !book.isGone(endpoint.number)) scheduler.schedule(slot)
      else dropIfDeleted(endpoint.number)
    }
    limits.give(account, isProven)
    scheduler.look(endpoint.number)
  }

  /** The attempt whose result this is has ended: the slot is nobody's now. */
  const land = (webhook: WebhookNumber, slot: number): boolean => {
    const endpoint = scheduler.endpointOf(webhook)
    if (endpoint.inFlight.get(slot)?.isDone !== true) return false
    endpoint.inFlight.delete(slot)
    clearMark(ledger, slot, slotMarks.active)
    limits.resultsWaiting(-1)
    return true
  }

  function fold(records: readonly LedgerRecord[]): void {
    for (const record of records) foldOne(record)
    snapshots.folded(records.length)
  }

  function foldOne(record: LedgerRecord): void {
    switch (record.type) {
      case 'new':
        applyRecord(ledger, record)
        matcher.folded(record.webhook)
        scheduler.schedule(record.slot)
        return
      case 'wait': {
        land(record.webhook, record.slot)
        scheduler.unschedule(record.slot)
        applyRecord(ledger, record)
        // asked for again while it was being sent: the attempt's own record comes
        if (!hasMark(ledger, record.slot, slotMarks.active)) scheduler.schedule(record.slot)
        return
      }
      case 'done':
      case 'dead':
        land(record.webhook, record.slot)
        scheduler.unschedule(record.slot)
        applyRecord(ledger, record)
        if (record.type === 'dead') limitDead(record.webhook)
        catchUp.look(record.webhook)
        dropIfDeleted(record.webhook)
        return
      case 'hook':
        if (record.says.op === 'dropped') forget(record.webhook)
        applyRecord(ledger, record)
        catchUp.look(record.webhook)
        return
      case 'epoch':
    }
  }

  const forget = (webhook: WebhookNumber): void => {
    scheduler.forget(webhook)
    matcher.forget(webhook)
    dropping.delete(webhook)
    for (const slot of slotsOf(ledger, webhook)) {
      scheduler.unschedule(slot)
      clearMark(ledger, slot, slotMarks.active)
    }
  }

  const limitDead = (webhook: WebhookNumber): void => {
    if ((ledger.hooks.get(webhook)?.dead ?? 0) < mostDead + deadAtOnce) return
    const oldest = [...slotsOf(ledger, webhook)]
      .filter((slot) => stateOf(ledger, slot) === slotStates.dead)
      .map((slot) => deliveryAt(ledger, slot))
      .toSorted((a, b) => a.dueMs - b.dueMs)
      .slice(0, deadAtOnce)
    wal.add(oldest.map((delivery) => ({ ...delivery, type: 'done' as const })))
  }

  const dropping = new Set<WebhookNumber>()
  /** One record frees all that waits, once nothing of it is under way. */
  function dropIfDeleted(webhook: WebhookNumber): void {
    if (!book.isGone(webhook) || dropping.has(webhook) || stop.aborted) return
    const endpoint = scheduler.endpointOf(webhook)
    if (endpoint.inFlight.size > 0) return
    dropping.add(webhook)
    wal.add([{ type: 'hook', webhook, says: { op: 'dropped' } }])
  }

  const onWebhookChange = (webhook: WebhookNumber): void => {
    if (shardOf(webhook) !== shard) return
    if (entryOf(webhook) !== undefined) {
      scheduler.look(webhook)
      catchUp.look(webhook)
    } else if (
      book.isGone(webhook) &&
      (ledger.hooks.has(webhook) || scheduler.endpointOf(webhook).inFlight.size > 0)
    ) {
      for (const { abort } of scheduler.endpointOf(webhook).inFlight.values()) abort.abort()
      dropIfDeleted(webhook)
    }
    follower.look()
  }

  for (let slot = 0; slot < ledger.top; slot++)
    if (stateOf(ledger, slot) === slotStates.pending) scheduler.schedule(slot)
  for (const webhook of ledger.hooks.keys()) {
    dropIfDeleted(webhook)
    catchUp.look(webhook)
  }

  const follower = followStreams({
    matcher,
    openFeed: (stream, start) => openFeed(nc, stream, start),
    resumeAfter: (stream, matched) => resumeAfter(nc, streamNames[stream], matched),
    matchedByMs: recovered.lastTimeMs || Number.POSITIVE_INFINITY,
    onOlder: (stream, cursor, resumedAfter) =>
      logger.error(
        { shard, stream: streamNames[stream], matched: cursor, resumedAfter },
        'a stream has come back older: what came into it since is delivered, what it lost is not',
      ),
    wantsReadings: index.wantsReadings,
    readersSinceMs: () => oldestReader(book, shard),
    onItem: (item) => {
      if (item.stream === 'readings') context.sources.rememberReadings(item.sequence, item.readings)
      else if (item.event !== undefined) context.sources.remember(item.sequence, item.event)
    },
    room: async () => {
      while (wal.waiting() > mostUnwritten && !stop.aborted) await pause(5)
    },
    stop,
    onFailure: (error) => logger.warn({ err: error, shard }, 'events: trying again'),
  })

  let cursorsMs = performance.now()
  const tick = setInterval(() => {
    scheduler.turn()
    const monotonicMs = performance.now()
    snapshots.keep(monotonicMs)
    if (monotonicMs - cursorsMs < cursorsEveryMs) return
    cursorsMs = monotonicMs
    const { events, readings } = wal.position().cursors
    if (events !== matcher.cursor('events') || readings !== matcher.cursor('readings'))
      wal.writeCursors()
  }, wheelTickMs)

  const oldestDueMs = (): number =>
    Math.max(scheduler.oldestDueMs(), follower.lagMs(context.wallMs()))
  const stopListening = book.onChange(onWebhookChange)
  const answers = answerRequests({
    ...context,
    shard,
    ledger,
    wal,
    matcher,
    catchUp,
    nowMs,
    stop,
    status: () => ({
      pending: ledger.pending,
      dead: ledger.dead,
      in_breaker: scheduler.inBreaker(),
      oldest_due_seconds: Math.round(oldestDueMs() / secondMs),
    }),
    isInFlight: ({ webhook, slot }) => scheduler.endpointOf(webhook).inFlight.has(slot),
    onFailure: (error) => logger.warn({ err: error, shard }, 'a question was not answered'),
  })

  const flights = () => [...scheduler.endpoints()].flatMap(({ inFlight }) => [...inFlight.values()])
  const landed = async (): Promise<void> => {
    const untilMs = performance.now() + lastAttemptsMs
    while (flights().some(({ isDone }) => !isDone) && performance.now() < untilMs) await sleep(20)
    for (const { abort } of flights()) abort.abort()
  }

  return {
    shard,
    stop: async () => {
      answers[Symbol.dispose]()
      stopListening()
      clearInterval(tick)
      scheduler[Symbol.dispose]()
      ending.abort()
      await landed()
      await Promise.all([follower.settled(), catchUp.settled()])
      await wal.settled()
      snapshots.keep(performance.now(), true)
      await snapshots.settled()
    },
    oldestDueMs,
    inBreaker: scheduler.inBreaker,
    counts: () => ({ pending: ledger.pending, dead: ledger.dead }),
    neededReadings: () => neededReadings(ledger, wal.position().cursors.readings),
  }
}

/** Where nothing was ever written and nobody listens yet, what happened before concerns nobody. */
async function firstCursors(
  nc: NatsConnection,
  lastSeq: number,
  cursors: { readonly events: number; readonly readings: number },
  webhooks: number,
) {
  if (lastSeq > 0 || webhooks > 0) return cursors
  const { streams } = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await streams.info(eventsStream)
  return { ...cursors, events: state.last_seq }
}

/** Since when somebody may want readings. */
function oldestReader(book: WebhookBook, shard: number): number {
  const since = [...book.entries()]
    .filter(({ number }) => shardOf(number) === shard)
    .filter(({ webhook }) => webhook.active && webhook.events.includes('reading.new'))
    .map(({ updatedMs }) => updatedMs)
  return Math.min(...since)
}
