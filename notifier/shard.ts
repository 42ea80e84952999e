/**
 * The owner of one shard.
 *
 *     recovering ──▶ claiming ──▶ working ──▶ stopping ──▶ stopped
 *                       └──────────┴── fenced, or an unforeseen error ──▶ the process ends
 *
 * Everything that changes the ledger passes through its log (`wal.ts`) and is folded when it is
 * durable; a POST is made only for what is folded (`delivery-steps.ts`).
 */
import { type Cursors, mapSources, sourceNames } from '../core/delivery/delivery.ts'
import { wheelTickMs } from '../core/delivery/due-slots.ts'
import { slotStates, stateOf } from '../core/delivery/ledger.ts'
import { secondMs } from '../core/time.ts'
import { answerRequests } from './answer-requests.ts'
import { type Claimed, claimShard } from './claim-shard.ts'
import {
  beginFlight,
  dropIfDeleted,
  foldRecord,
  lastFlights,
  takeChange,
} from './delivery-steps.ts'
import { createCatchUp } from './match/catch-up.ts'
import { type Follower, followSources } from './match/follow.ts'
import { createMatcher } from './match/matcher.ts'
import { neededReadings } from './match/needed-readings.ts'
import { createScheduler } from './scheduler/scheduler.ts'
import { createDeliverer } from './send/deliverer.ts'
import type { ShardContext, ShardWork } from './shard-work.ts'
import { wantedSinceMs } from './webhook-book.ts'

export type Shard = {
  readonly shard: number
  /** Starts no more attempts; those under way end or are aborted, and their results are written. */
  readonly stop: () => Promise<void>
  readonly oldestDueMs: () => number
  readonly inBreaker: () => number
  readonly counts: () => { readonly pending: number; readonly dead: number }
  /**
   * The oldest message of READINGS that a delivery of this shard, existing or to be made, needs.
   */
  readonly neededReadings: () => number | undefined
}

const cursorsEveryMs = 10 * secondMs
/** Matching waits while more records than this are not durable. */
const mostUnwritten = 5_000
const roomAgainMs = 5

export async function startShard(context: ShardContext, shard: number): Promise<Shard> {
  const ending = new AbortController()
  const stop = AbortSignal.any([context.stop, ending.signal])
  const claimed = await claimShard(context, shard, stop)
  const work = setUp(context, shard, claimed, stop)
  claimed.onDurable((records) => {
    for (const record of records) foldRecord(work, record)
  })
  takeUp(work)
  const follower = follow(work, claimed)
  const tick = startTick(work)
  const stopListening = context.book.onChange((webhook) => {
    takeChange(work, webhook)
    follower.look()
  })
  const oldestDueMs = (): number =>
    Math.max(work.scheduler.oldestDueMs(), follower.lagMs(context.wallMs()))
  const answers = answer(work, oldestDueMs)
  const { ledger, wal, snapshots, scheduler, catchUp } = work
  return {
    shard,
    stop: async () => {
      answers[Symbol.dispose]()
      stopListening()
      clearInterval(tick)
      scheduler[Symbol.dispose]()
      ending.abort()
      await lastFlights(scheduler)
      await Promise.all([follower.settled(), catchUp.settled()])
      await wal.settled()
      snapshots.keep(performance.now(), true)
      await snapshots.settled()
    },
    oldestDueMs,
    inBreaker: scheduler.inBreaker,
    counts: () => ({ pending: ledger.pending, dead: ledger.dead }),
    neededReadings: () => neededReadings(ledger, durableCursors(work)),
  }
}

/** The cursor as written; for a source that has just started, the cursor it started from. */
function durableCursors({ wal, matcher }: ShardWork): Cursors {
  const { cursors } = wal.position()
  return mapSources((source) => cursors[source] ?? matcher.cursor(source))
}

function setUp(context: ShardContext, shard: number, claimed: Claimed, stop: AbortSignal) {
  const { book, limits, rate, mostWaiting, metrics, logger, sources } = context
  const { ledger, wal, snapshots, nowMs, cursors } = claimed
  const entryOf = book.get
  const index = book.index(shard)
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
  const onFailure = (error: unknown): void =>
    logger.warn({ err: error, shard }, 'catching up: trying again later')
  const catching = { ledger, wal, matcher, entryOf, sources, nowMs, stop, onFailure }
  const scheduler = createScheduler({
    ledger,
    limits,
    rate,
    receiverOf: entryOf,
    nowMs,
    begin: (endpoint, slot) => void beginFlight(work, endpoint, slot).catch(context.onFatal),
  })
  const work: ShardWork = {
    context,
    shard,
    ledger,
    wal,
    snapshots,
    nowMs,
    matcher,
    catchUp: createCatchUp(catching),
    scheduler,
    deliver: createDeliverer(context, { ledger, nowMs, entryOf }),
    dropping: new Set(),
    stop,
  }
  return work
}

/** Resumes the ledger's deliveries where the previous owner left them. */
function takeUp(work: ShardWork): void {
  const { ledger, scheduler, catchUp } = work
  for (let slot = 0; slot < ledger.top; slot++)
    if (stateOf(ledger, slot) === slotStates.pending) scheduler.schedule(slot)
  for (const webhook of ledger.hooks.keys()) {
    dropIfDeleted(work, webhook)
    catchUp.look(webhook)
  }
}

function follow(
  { context, shard, matcher, wal, stop }: ShardWork,
  { matchedByMs }: Claimed,
): Follower {
  const { book, sources, logger, pause, onNeeds, wallMs } = context
  return followSources({
    matcher,
    sources,
    wants: book.index(shard).wants,
    wallMs,
    wantedSinceMs: (source) => wantedSinceMs(book, shard, source),
    matchedByMs,
    onOlder: (source, cursor, resumedAfter) =>
      logger.error(
        { shard, source, matched: cursor, resumedAfter },
        'a stream has come back older: its new events are delivered, those it lost are not',
      ),
    onBegun: () => {
      wal.writeCursors()
      onNeeds()
    },
    room: async () => {
      while (wal.waiting() > mostUnwritten && !stop.aborted) await pause(roomAgainMs)
    },
    stop,
    onFailure: (error) => logger.warn({ err: error, shard }, 'events: trying again'),
    onFatal: context.onFatal,
  })
}

function startTick({ scheduler, snapshots, wal, matcher }: ShardWork): NodeJS.Timeout {
  let cursorsMs = performance.now()
  return setInterval(() => {
    scheduler.turn()
    const monotonicMs = performance.now()
    snapshots.keep(monotonicMs)
    if (monotonicMs - cursorsMs < cursorsEveryMs) return
    cursorsMs = monotonicMs
    const { cursors } = wal.position()
    if (sourceNames.some((source) => cursors[source] !== matcher.cursor(source))) wal.writeCursors()
  }, wheelTickMs)
}

function answer(work: ShardWork, oldestDueMs: () => number): Disposable {
  const { context, shard, ledger, wal, matcher, catchUp, nowMs, stop, scheduler } = work
  return answerRequests({
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
    onFailure: (error) => context.logger.warn({ err: error, shard }, 'a request was not answered'),
  })
}
