/**
 * The worker of one partition.
 *
 *     recovering ──▶ working ──▶ stopping ──▶ stopped
 *                       └── fenced, or an unforeseen error ──▶ the process ends
 *
 * Everything that is decided passes through one `concatMap`: batches, ticks and late verdicts, one
 * after the other, each committed before the next is decided. Where the process may die:
 *
 * - before the commit: RAW still holds the batch, the next start judges it again;
 * - after it: the log holds the decision; its events and refusals are copied again at the next
 *   start, which changes nothing where they had been copied; rows after the snapshot's store
 *   position are written again, which is idempotent too.
 */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import {
  concatMap,
  filter,
  interval,
  lastValueFrom,
  map,
  merge,
  of,
  Subject,
  takeUntil,
  tap,
} from 'rxjs'
import { tableBounds, type UsualBounds } from '../core/air/quality.ts'
import type { NeighbourVerdict } from '../core/state/log-message.ts'
import type { PartitionState } from '../core/state/partition-state.ts'
import { warmCaches } from '../core/state/warm-caches.ts'
import { dayMs, hourMs, secondMs } from '../core/time.ts'
import { TryAgain } from '../runtime/exit.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import type { RefusedRow } from '../store/store.ts'
import { createCredits, type JudgedBatch, judgeBatches, pulledBatches } from './batches.ts'
import { CommitLine, noRaws } from './commit-line.ts'
import { eventCopier } from './copies/copy-events.ts'
import { rejectedCopier } from './copies/copy-rejected.ts'
import { receiptSender } from './copies/receipts.ts'
import { RefusedKeys } from './copies/refused-keys.ts'
import { rejectedBound } from './copies/rejected-bound.ts'
import {
  createDayBook,
  createFreshBook,
  mostFreshADay,
  mostLateADay,
  mostListedADay,
} from './decide/day-books.ts'
import {
  type Decider,
  decideBatch,
  decideLate,
  decideMark,
  decideTick,
  type LateVerdict,
} from './decide/decide.ts'
import type { Believed, JudgedMessage } from './decide/judge.ts'
import { neighbourVerdicts } from './decide/neighbour-verdicts.ts'
import { purgeRaw } from './intake/purge-raw.ts'
import { openRawSource, type RawSource } from './intake/raw-source.ts'
import { type LateLane, startLateLane } from './late-lane.ts'
import { Listener, tickMs } from './listener.ts'
import { Border } from './log/border.ts'
import { type Recovered, recover } from './log/recover.ts'
import { type SnapshotKeeper, snapshotKeeper } from './log/snapshot-keeper.ts'
import { snapshotWriter } from './log/write-snapshot.ts'
import type { PartitionContext } from './partition-context.ts'

export type PartitionWorker = {
  readonly partition: number
  /** Takes no more, commits what is under way, leaves a snapshot. */
  readonly stop: () => Promise<void>
  /** Rows the store refused for good: their keys stay taken. */
  readonly rememberRefused: (refused: readonly RefusedRow[]) => void
  readonly at: () => Position
}

/** How far the worker is. */
export type Position = {
  readonly partition: number
  /** Of RAW: judged and committed up to here. */
  readonly rawLast: number
  /** Of READINGS: its last message, and how many readings it counts. */
  readonly lastSeq: number
  readonly n: number
  /** Deferred readings in memory. */
  readonly late: number
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
const heartbeatMs = hourMs
const purgeEveryMs = 5 * secondMs
/** A sensor that the operator lets send more often, such as a bridge, may do so all day. */
const mostFreshOf = (sensor: RegisteredSensor | undefined): number =>
  Math.max(mostFreshADay, (sensor?.flood?.perSecond ?? 0) * (dayMs / secondMs))

function believedIn(messages: readonly JudgedMessage[]): Believed[] {
  const believed: Believed[] = []
  for (const { items } of messages)
    for (const item of items) if (!('reason' in item)) believed.push(item)
  return believed
}

export async function startPartition(
  context: PartitionContext,
  partition: number,
): Promise<PartitionWorker> {
  const { log, logger, metrics } = context
  const manager = await jetstreamManager(log.nc, { checkAPI: false })
  const recovered = await recover(log.nc, partition)
  if (await context.isTaken(partition))
    throw new TryAgain(
      `partition ${partition} was taken by another process before work on it began: starting again`,
    )
  if (recovered.rawLost) {
    metrics.rawLost.inc()
    logger.error({ partition }, 'RAW lost its tail: resumed by time')
  }
  const source = await openRawSource(log.nc, {
    partition,
    fromSeq: recovered.rawFrom,
    nowMs: context.monotonicMs,
    beat: context.beat,
    onRestart: (why) => logger.debug({ partition, why }, 'pulling RAW again'),
  })
  return new WorkingPartition({ context, partition, recovered, manager, source })
}

type Parts = {
  readonly context: PartitionContext
  readonly partition: number
  readonly recovered: Recovered
  readonly manager: JetStreamManager
  readonly source: RawSource
}

/** At work from its construction on, until `stop` or an error. */
class WorkingPartition implements PartitionWorker {
  readonly partition: number
  readonly #context: PartitionContext
  readonly #state: PartitionState
  readonly #source: RawSource
  readonly #listener: Listener
  readonly #mayBeLate = createDayBook(mostLateADay)
  readonly #decider: Decider
  readonly #refused: RefusedKeys
  readonly #line: CommitLine
  readonly #border: Border
  readonly #lane: LateLane
  readonly #snapshots: SnapshotKeeper
  readonly #lateWork = new Subject<Late>()
  readonly #credits = createCredits(batchesUnderWay)
  readonly #stopping = new AbortController()
  readonly #stopped = new Subject<void>()
  readonly #finished: Promise<unknown>
  readonly #purging: NodeJS.Timeout
  #isTickWaiting = false

  /** Nothing is awaited here: what is committed or judged late must find all work subscribed to. */
  constructor({ context, partition, recovered, manager, source }: Parts) {
    const { state } = recovered
    this.partition = partition
    this.#context = context
    this.#state = state
    this.#source = source
    this.#refused = new RefusedKeys(recovered.refusedKeys)
    this.#listener = new Listener({ context, state, lastAtEndMs: source.lastAtEndMs })
    const { worker, thresholds } = context
    this.#decider = {
      state,
      worker,
      thresholds,
      watch: this.#listener.watch,
      mayBeFresh: createFreshBook((sensor) => mostFreshOf(context.sensorOf(sensor))),
      mayBeLate: this.#mayBeLate,
      mayList: createDayBook(mostListedADay),
      onNotListed: context.metrics.notListed,
      leafVersion: () => this.#border.leafVersion,
    }
    this.#line = this.#openLine(recovered)
    this.#border = this.#openBorder(recovered)
    this.#snapshots = this.#openSnapshots()
    const { lastSeq } = this.#line
    context.writer.assign(partition, Math.min(recovered.storePosition, lastSeq), lastSeq)
    this.#lane = this.#openLane(lastSeq)
    this.#finished = this.#startWork()
    this.#finished.catch(context.onFatal)
    this.#purging = setInterval(() => this.#purge(manager), purgeEveryMs)
  }

  readonly stop = async (): Promise<void> => {
    clearInterval(this.#purging)
    this.#stopping.abort()
    this.#stopped.next()
    await this.#source[Symbol.asyncDispose]()
    this.#credits.give()
    await this.#finished
    await this.#line.settled()
    this.#keepSnapshot(true)
    await this.#snapshots.settled()
    this.#context.storm.forget(this.partition)
    this.#context.writer.release(this.partition)
  }

  readonly rememberRefused = (refused: readonly RefusedRow[]): void => {
    for (const { row } of refused) this.#refused.add(row)
  }

  readonly at = (): Position => ({
    partition: this.partition,
    rawLast: this.#state.rawLast,
    lastSeq: this.#line.lastSeq,
    n: this.#state.n,
    late: this.#lane.waiting(),
  })

  #openLine({ last }: Recovered): CommitLine {
    const { atHand, log, logger, metrics, monotonicMs, wantReceipts, writer } = this.#context
    const { partition } = this
    const bound = rejectedBound(log.nc, {
      onFailure: (error) =>
        logger.warn({ err: error, partition }, 'REJECTED was not trimmed this time'),
      onNotKept: () => metrics.notKept.inc(),
      nowMs: monotonicMs,
    })
    return new CommitLine({
      log,
      state: this.#state,
      last,
      copyEvents: eventCopier(log, this.#context),
      copyRejected: rejectedCopier(log, bound),
      sendReceipts: receiptSender({ nc: log.nc, state: this.#state, wanting: wantReceipts }),
      onCommitted: (message, seq) => {
        writer.offer(atHand.of(message, seq))
        this.#lane.offer(seq, message.deferred)
        metrics.count(message)
      },
      monotonicMs,
    })
  }

  #openBorder({ last }: Recovered): Border {
    const { log, logger, marks } = this.#context
    return new Border({
      log,
      marks,
      last: last?.message,
      commitMark: async () => {
        const message = decideMark(this.#decider, this.#counters())
        await this.#line.commit({ message, raws: noRaws })
        logger.info({ partition: this.partition }, 'the mark is in the log: waiting for the others')
      },
      lastSeq: () => this.#line.lastSeq,
      stop: AbortSignal.any([log.stop, this.#stopping.signal]),
    })
  }

  #openSnapshots(): SnapshotKeeper {
    const { log, logger, monotonicMs } = this.#context
    const { partition } = this
    return snapshotKeeper(this.#state, snapshotWriter(log, partition), {
      startMs: monotonicMs(),
      level: log.level,
      onFailure: (error) => logger.warn({ err: error, partition }, 'no snapshot this time'),
    })
  }

  #openLane(lastSeq: number): LateLane {
    const { log, logger, existing, writer } = this.#context
    const { partition } = this
    return startLateLane({
      nc: log.nc,
      partition,
      lateTo: this.#state.lateTo,
      lastSeq,
      existing,
      isRefusedKey: (key) => this.#refused.has(key),
      stored: (seq) => writer.passed(partition, seq),
      submit: (verdicts, lateTo) =>
        new Promise((done) => this.#lateWork.next({ verdicts, lateTo, done })),
      onFailure: (error) => logger.warn({ err: error, partition }, 'late lane: trying again'),
      pause: log.pause,
      // when the process stops, `pause` no longer waits: what tries again must see it too
      stop: AbortSignal.any([log.stop, this.#stopping.signal]),
    })
  }

  /** Subscribes to all work. @returns when it has ended: after a stop, or with the first error */
  #startWork(): Promise<unknown> {
    const { level } = this.#context.log
    const { partition } = this
    // what leaf 1 leaves out must follow from the table for ever (decision 55)
    const usual = (): UsualBounds =>
      this.#border.leafVersion === 2 ? this.#context.usual : tableBounds
    const context = { ...this.#context, partition, level, mayBeLate: this.#mayBeLate, usual }
    const judged = pulledBatches(this.#source, this.#credits).pipe(
      judgeBatches(context),
      map((batch): Work => ({ kind: 'batch', batch })),
    )
    const ticks = interval(tickMs).pipe(
      tap(() => this.#listener.tick()),
      // while one waits for a slow commit, another would find nothing more
      filter(() => !this.#isTickWaiting),
      tap(() => {
        this.#isTickWaiting = true
      }),
      map((): Work => ({ kind: 'tick' })),
      takeUntil(this.#stopped),
    )
    const late = this.#lateWork.pipe(
      map((verdicts): Work => ({ kind: 'late', late: verdicts })),
      takeUntil(this.#stopped),
    )
    // one at once: a partition without readings need not wait for a tick to commit its mark
    const work = merge(of<Work>({ kind: 'tick' }), judged, ticks, late).pipe(
      concatMap((one) => this.#work(one)),
    )
    return lastValueFrom(work, { defaultValue: undefined })
  }

  async #work(work: Work): Promise<void> {
    // not passed: the worker stops; RAW and the log hold what is left, for the next one
    if (!(await this.#border.pass())) return
    switch (work.kind) {
      case 'batch':
        await this.#workBatch(work.batch)
        this.#credits.give()
        break
      case 'late':
        await this.#workLate(work.late)
        break
      case 'tick':
        await this.#workTick()
        break
    }
    this.#keepSnapshot()
  }

  async #workBatch({ messages, raws, startMs }: JudgedBatch): Promise<void> {
    warmCaches(this.#state, believedIn(messages))
    for (let at = 0; at < messages.length; ) {
      const rest = messages.slice(at)
      const { message, covered } = decideBatch(this.#decider, rest, this.#counters())
      await this.#line.commit({ message, raws, startMs })
      at += covered
    }
  }

  async #workLate({ verdicts, lateTo, done }: Late): Promise<void> {
    const message = decideLate(this.#decider, verdicts, { ...this.#counters(), lateTo })
    const deferred = verdicts.map((verdict) => verdict.deferred)
    done(await this.#line.commit({ message, raws: noRaws, deferred }))
  }

  async #workTick(): Promise<void> {
    this.#isTickWaiting = false
    const silences = this.#listener.silences()
    const neighbours = this.#neighbourVerdicts()
    const isQuiet =
      silences.events.length === 0 && silences.held.length === 0 && neighbours.length === 0
    const isHeartbeat = this.#context.monotonicMs() - this.#line.committedAtMs >= heartbeatMs
    if (isQuiet && !isHeartbeat) return
    const message = decideTick(this.#decider, { ...silences, neighbours }, this.#counters())
    await this.#line.commit({ message, raws: noRaws })
  }

  /** Leaf 1 has no rules. */
  #neighbourVerdicts(): readonly NeighbourVerdict[] {
    const { partition } = this
    const report = this.#context.neighbours.newest(partition)
    if (report === undefined || this.#border.leafVersion === 1) return []
    const verdicts = neighbourVerdicts(this.#state, report)
    if (verdicts.length === 0) this.#context.neighbours.done(partition, report)
    return verdicts
  }

  #counters(): { readonly lateTo: number; readonly listenedMs: number } {
    return {
      lateTo: Math.max(this.#lane.lateTo(), this.#state.lateTo),
      listenedMs: this.#listener.listenedMs,
    }
  }

  #keepSnapshot(isLast = false): void {
    this.#snapshots.keep({
      storePosition: this.#context.writer.position(this.partition),
      listenedMs: this.#listener.listenedMs,
      refusedKeys: this.#refused.values(),
      monotonicMs: this.#context.monotonicMs(),
      isLast,
    })
  }

  #purge(manager: JetStreamManager): void {
    const { nowMs, logger } = this.#context
    const { partition } = this
    purgeRaw(manager, partition, { rawLast: this.#line.copiedTo, nowMs: nowMs() }).catch(
      (error: unknown) => logger.debug({ err: error, partition }, 'RAW was not purged this time'),
    )
  }
}
