/**
 * The worker of one partition.
 *
 *     recovering ──▶ working ──▶ stopping ──▶ stopped
 *                       └── fenced, or an error nobody foresaw ──▶ the process ends
 *
 * Everything that is decided passes through one `concatMap`: batches, ticks and late verdicts, one
 * after the other, each committed before the next is decided. Where the process may die:
 *
 * - before the commit: RAW still holds the batch, the next start judges it again;
 * - after it: the log holds the decision; its events and refusals are copied again at the next
 *   start, which changes nothing where they had been copied; rows behind the snapshot's store
 *   position are written again, which changes nothing either.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import {
  concatMap,
  filter,
  interval,
  lastValueFrom,
  map,
  merge,
  Subject,
  takeUntil,
  tap,
} from 'rxjs'
import type { ReadingKey } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import {
  type ListeningClock,
  startListening,
  tickListening,
} from '../core/state/listening-clock.ts'
import type { Deferred, LogMessage } from '../core/state/log-message.ts'
import { graceMsOf, statusCounts } from '../core/state/presence.ts'
import { createSilenceWheel } from '../core/state/silence-wheel.ts'
import { warm } from '../core/state/warm.ts'
import { dayMs, hourMs, secondMs } from '../core/time.ts'
import { TryAgain } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import { defaultCadenceSeconds } from '../schemas/devices/sensor.ts'
import type { RefusedRow, Store } from '../store/store.ts'
import { createCredits, type JudgedBatch, judgeBatches, pulledBatches } from './batches.ts'
import { commit, type Log } from './commit.ts'
import { eventCopier } from './copy-events.ts'
import { rejectedCopier } from './copy-rejected.ts'
import {
  createDayBook,
  createFreshBook,
  mostFreshADay,
  mostLateADay,
  mostListedADay,
} from './day-books.ts'
import {
  type Decider,
  decideBatch,
  decideLate,
  decideTick,
  type JudgedMessage,
  type LateVerdict,
  settle,
} from './decide.ts'
import { findSilences } from './find-silences.ts'
import type { Believed } from './judge.ts'
import { startLateLane } from './late-lane.ts'
import type { PipelineMetrics } from './metrics.ts'
import { purgeRaw } from './purge-raw.ts'
import type { RawsAtHand } from './raw-message.ts'
import { openRawSource } from './raw-source.ts'
import { receiptTeller } from './receipts.ts'
import { recover } from './recover.ts'
import { rejectedBound } from './rejected-bound.ts'
import { snapshotKeeper } from './snapshot-keeper.ts'
import type { StoreWriter } from './store-writer.ts'
import type { StormWatch } from './storm-watch.ts'
import { snapshotWriter } from './write-snapshot.ts'

export type PartitionContext = {
  readonly log: Log
  readonly logger: Logger
  readonly worker: string
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  readonly registryBarrier: () => Promise<void>
  readonly thresholds: () => readonly number[]
  readonly keccak: Keccak
  readonly store: Pick<Store, 'existing'>
  readonly writer: StoreWriter
  readonly storm: StormWatch
  /** The sensors that asked for receipts. */
  readonly wantReceipts: ReadonlySet<string>
  readonly metrics: PipelineMetrics
  readonly earliestMs: number
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number
  /** A clock that never jumps, ms. */
  readonly monotonicMs: () => number
  /** Somebody else's now, by the leases. */
  readonly isTaken: (partition: number) => Promise<boolean>
  /** The worker cannot go on; the process must end. */
  readonly onFatal: (error: unknown) => void
}

export type PartitionWorker = {
  readonly partition: number
  /** Takes no more, commits what is under way, leaves a snapshot. */
  readonly stop: () => Promise<void>
  /** Rows the store refused for good: their keys stay taken. */
  readonly rememberRefused: (refused: readonly RefusedRow[]) => void
  readonly lag: () => { readonly rawLast: number; readonly late: number }
}

type Late = {
  readonly verdicts: readonly LateVerdict[]
  readonly lateTo: number
  readonly done: (seq: number) => void
}
type Work =
  | { readonly kind: 'batch'; readonly batch: JudgedBatch }
  | { readonly kind: 'late'; readonly late: Late }
  | { readonly kind: 'tick' }

const batchesUnderWay = 3
const tickMs = secondMs
const heartbeatMs = hourMs
/** The worker listens while it has been at RAW's end within the last tick and a half. */
const listeningWithinMs = 1.5 * tickMs
const purgeEveryMs = 5 * secondMs
const noRaws: RawsAtHand = () => undefined
/** A sensor that the operator lets send more often, such as a bridge, may do so all day. */
const mostFreshOf = (sensor: RegisteredSensor | undefined): number =>
  Math.max(mostFreshADay, (sensor?.flood?.perSecond ?? 0) * (dayMs / secondMs))
const keyText = ({ sensor, timeMs }: ReadingKey): string => `${sensor} ${timeMs}`

const believedIn = (messages: readonly JudgedMessage[]): Believed[] =>
  messages.flatMap(({ items }) => items.filter((item): item is Believed => !('reason' in item)))

export async function startPartition(
  context: PartitionContext,
  partition: number,
): Promise<PartitionWorker> {
  const { log, logger, metrics, monotonicMs, writer } = context
  const manager = await jetstreamManager(log.nc)
  const recovered = await recover(log.nc, partition)
  if (await context.isTaken(partition))
    throw new TryAgain(`partition ${partition} was taken before work on it began: starting anew`)
  const { state, last } = recovered
  if (recovered.rawLost) {
    metrics.rawLost.inc()
    logger.error({ partition }, 'RAW lost its tail: resumed by time')
  }
  const refusedKeys = new Map(
    recovered.refusedKeys.map(([sensor, timeMs]) => [
      keyText({ sensor, timeMs }),
      { sensor, timeMs },
    ]),
  )
  const stopping = new AbortController()

  const cadenceMsOf = (sensor: SensorId | undefined): number =>
    (sensor && context.sensorOf(sensor)?.cadenceMs) ?? defaultCadenceSeconds * secondMs
  const graceMs = (slot: number): number => graceMsOf(cadenceMsOf(state.ids[slot]))
  const wheel = createSilenceWheel(state, graceMs)
  const mayBeLate = createDayBook(mostLateADay)
  const decider: Decider = {
    state,
    worker: context.worker,
    thresholds: context.thresholds,
    watch: wheel.watch,
    mayBeFresh: createFreshBook((sensor) => mostFreshOf(context.sensorOf(sensor))),
    mayBeLate,
    mayList: createDayBook(mostListedADay),
    onNotListed: metrics.notListed,
  }
  const copyEvents = eventCopier(log, context)
  const bound = rejectedBound(log.nc, {
    onFailure: (error) =>
      logger.warn({ err: error, partition }, 'REJECTED was not trimmed this time'),
    onNotKept: () => metrics.notKept.inc(),
    nowMs: monotonicMs,
  })
  const copyRejected = rejectedCopier(log, bound)
  const tellReceipts = receiptTeller({ nc: log.nc, state, wanting: context.wantReceipts })
  const snapshots = snapshotKeeper(state, snapshotWriter(log, partition), {
    startMs: monotonicMs(),
    onFailure: (error) => logger.warn({ err: error, partition }, 'no snapshot this time'),
  })

  let clock: ListeningClock = startListening(state.listenedMs)
  let lastSeq = last?.seq ?? 0
  let committedAtMs = monotonicMs()
  /** Raw messages up to here are judged, and what was refused of them is kept elsewhere. */
  let copiedTo = 0
  let isTickWaiting = false

  const copy = (
    message: LogMessage,
    seq: number,
    raws: RawsAtHand,
    deferred: readonly Deferred[] = [],
  ): Promise<unknown> =>
    Promise.all([
      copyEvents(message, seq),
      copyRejected(message, raws, ({ rawSeq, item }) =>
        deferred.find((one) => one.rawSeq === rawSeq && one.item === item),
      ),
    ])
  /** The copies of the last message; they must be made before the next is committed. */
  let copying = last === undefined ? Promise.resolve() : copy(last.message, last.seq, noRaws)
  if (last !== undefined) tellReceipts(last.message)

  const source = await openRawSource(log.nc, {
    partition,
    fromSeq: recovered.rawFrom,
    nowMs: monotonicMs,
    onRestart: (why) => logger.debug({ partition, why }, 'pulling RAW anew'),
  })

  // from here on nothing is awaited until all three kinds of work are subscribed to below
  writer.assign(partition, Math.min(recovered.storePosition, lastSeq), lastSeq)
  const lateWork = new Subject<Late>()
  const lane = startLateLane({
    nc: log.nc,
    partition,
    lateTo: state.lateTo,
    lastSeq,
    existing: context.store.existing,
    isRefusedKey: (key) => refusedKeys.has(keyText(key)),
    stored: (seq) => writer.passed(partition, seq),
    submit: (verdicts, lateTo) => new Promise((done) => lateWork.next({ verdicts, lateTo, done })),
    onFailure: (error) => logger.warn({ err: error, partition }, 'late lane: trying again'),
    pause: log.pause,
    // when the process stops, `pause` no longer waits: whoever tries again must see it too
    stop: AbortSignal.any([log.stop, stopping.signal]),
  })
  const decided = async (
    message: LogMessage,
    raws: RawsAtHand,
    deferred?: readonly Deferred[],
  ): Promise<number> => {
    await copying
    const seq = await commit(log, message, lastSeq)
    lastSeq = seq
    committedAtMs = monotonicMs()
    settle(decider, message, seq)
    tellReceipts(message)
    copying = copy(message, seq, raws, deferred)
    // awaited before the next commit, and at stop: until then a failure is nobody's
    copying.then(
      () => {
        copiedTo = message.rawLast
      },
      () => undefined,
    )
    writer.offer({ partition, seq, rows: message.readings })
    lane.offer(seq, message.deferred)
    metrics.count(message)
    return seq
  }
  const counters = () => ({
    lateTo: Math.max(lane.lateTo(), state.lateTo),
    listenedMs: clock.listenedMs,
  })

  const workBatch = async ({ messages, raws }: JudgedBatch): Promise<void> => {
    warm(state, believedIn(messages))
    for (let at = 0; at < messages.length; ) {
      const { message, covered } = decideBatch(decider, messages.slice(at), counters())
      await decided(message, raws)
      at += covered
    }
  }

  const workLate = async ({ verdicts, lateTo, done }: Late): Promise<void> => {
    const message = decideLate(decider, verdicts, { ...counters(), lateTo })
    const deferred = verdicts.map((one) => one.deferred)
    done(await decided(message, noRaws, deferred))
  }

  const workTick = async (): Promise<void> => {
    isTickWaiting = false
    const found = findSilences(
      { state, wheel, storm: context.storm, graceMs },
      { nowMs: context.nowMs(), listenedMs: clock.listenedMs },
    )
    const isQuiet = found.events.length === 0 && found.held.length === 0
    const isHeartbeat = monotonicMs() - committedAtMs >= heartbeatMs
    if (!isQuiet || isHeartbeat) await decided(decideTick(decider, found, counters()), noRaws)
  }

  const keepSnapshot = (isLast = false): void =>
    snapshots.keep({
      storePosition: writer.position(partition),
      listenedMs: clock.listenedMs,
      refusedKeys: refusedKeys.values(),
      monotonicMs: monotonicMs(),
      isLast,
    })

  const work = async (one: Work): Promise<void> => {
    switch (one.kind) {
      case 'batch':
        await workBatch(one.batch)
        credits.give()
        break
      case 'late':
        await workLate(one.late)
        break
      case 'tick':
        await workTick()
        break
    }
    keepSnapshot()
  }

  const credits = createCredits(batchesUnderWay)
  const stopped = new Subject<void>()
  const judged = pulledBatches(source, credits).pipe(
    judgeBatches({ ...context, partition, mayBeLate }),
    map((batch): Work => ({ kind: 'batch', batch })),
  )
  const listen = (): void => {
    const nowMs = monotonicMs()
    const isListening = nowMs - source.lastAtEndMs() < listeningWithinMs
    clock = tickListening(clock, nowMs, isListening)
    context.storm.report(partition, statusCounts(state))
  }
  const ticks = interval(tickMs).pipe(
    tap(listen),
    // while one waits behind a slow commit, another would find nothing more
    filter(() => !isTickWaiting),
    tap(() => {
      isTickWaiting = true
    }),
    map((): Work => ({ kind: 'tick' })),
    takeUntil(stopped),
  )
  const late = lateWork.pipe(
    map((one): Work => ({ kind: 'late', late: one })),
    takeUntil(stopped),
  )
  const finished = lastValueFrom(merge(judged, ticks, late).pipe(concatMap(work)), {
    defaultValue: undefined,
  })
  finished.catch(context.onFatal)

  const purging = setInterval(() => {
    purgeRaw(manager, partition, { rawLast: copiedTo, nowMs: context.nowMs() }).catch(
      (error: unknown) => logger.debug({ err: error, partition }, 'RAW was not purged this time'),
    )
  }, purgeEveryMs)

  return {
    partition,
    stop: async () => {
      clearInterval(purging)
      stopping.abort()
      stopped.next()
      await source[Symbol.asyncDispose]()
      credits.give()
      await finished
      await copying
      keepSnapshot(true)
      await snapshots.settled()
      context.storm.forget(partition)
      writer.release(partition)
    },
    rememberRefused: (refused) => {
      for (const { row } of refused) {
        refusedKeys.set(keyText(row), { sensor: row.sensor, timeMs: row.timeMs })
      }
    },
    lag: () => ({ rawLast: state.rawLast, late: lane.waiting() }),
  }
}
