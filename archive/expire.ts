/**
 * Retention: what the archive has and proves goes from the store and from BLOBS once it is as old as the
 * operator says. Hours and days stay.
 *
 *     prove the runs ─▶ KV `retention` ─▶ delete, day by day
 *
 * The record comes first: from then on readers look into the archive for what they do not find. Killed
 * anywhere after it, the next round proves the same again and deletes what is left.
 */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { dayMs, floorTo, secondMs } from '../core/time.ts'
import { dayStart } from '../operate/archive/archive-layout.ts'
import type { Catalogue, CatalogueRun } from '../operate/archive/catalogue.ts'
import { checkOrder, readRun } from '../operate/archive/check-archive.ts'
import { retentionIn } from '../runtime/nats/retention.ts'
import { type Retention, retentionText } from '../schemas/retention.ts'
import { buckets } from '../schemas/subjects.ts'
import { systemKeys } from '../schemas/system-keys.ts'
import type { Store } from '../store/store.ts'
import { canPurgeBlobs, purgeBlobs } from './expire-blobs.ts'
import { expireDay } from './expire-day.ts'
import { mostReadings } from './next-batches.ts'
import { proveRun } from './prove-run.ts'
import { statisticsWait } from './statistics-wait.ts'
import { writeLate } from './write-late.ts'

export type ExpireOptions = {
  readonly nc: NatsConnection
  /** The store, to be read. */
  readonly store: Store
  /** The same to be written; opened when there is something to delete. */
  readonly openWriter: () => Promise<Store>
  readonly folder: string
  readonly rawDays: number | undefined
  readonly blobDays: number | undefined
  readonly keccak: Keccak
  readonly pause: (ms: number) => Promise<void>
}

/** What one round did. */
export type Expired = {
  readonly retention: Retention
  readonly readings: number
  readonly batches: number
  /** Readings of expired days that are not archived, or not all of them: they are in the store. */
  readonly left: number
  /** Why it does not go further, though nothing is wrong; null: nothing waits. */
  readonly waits: string | null
  /** The next round may follow at once. */
  readonly isMore: boolean
}

export type Now = { readonly nowMs: number; readonly stop: AbortSignal }
type Round = ExpireOptions &
  Now & {
    readonly catalogue: Catalogue
    readonly system: KV
    readonly manager: JetStreamManager
  }

type Day = { readonly startMs: number; readonly runs: readonly CatalogueRun[] }

/** Keeps in memory which days are done, so that a round without work costs two requests. */
export class Expiry {
  readonly #options: ExpireOptions
  /** The last run that had the day when it was done. */
  readonly #done = new Map<number, number>()
  #blobsLookedAt = 0
  #hasFinished = false

  constructor(options: ExpireOptions) {
    this.#options = options
  }

  /**
   * A bounded part of what is to be done.
   * @throws Refusal, MustAct nothing is deleted that is not proven: a person must look
   */
  async round(catalogue: Catalogue, now: Now): Promise<Expired> {
    const { nc } = this.#options
    const system = await new Kvm(nc).open(buckets.system)
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const round = { ...this.#options, ...now, catalogue, system, manager }
    const rows = await this.#expireRows(round)
    const blobs = await this.#expireBlobs(round)
    return {
      retention: await retentionIn(system),
      readings: rows.deleted,
      batches: blobs.deleted,
      left: rows.left,
      waits: [rows.waits, blobs.waits].find((why) => why !== null) ?? null,
      isMore: rows.isMore || blobs.isMore,
    }
  }

  async #expireRows(round: Round) {
    const { rawDays, catalogue, store, system, nowMs, stop } = round
    const nothing = { deleted: 0, left: 0, waits: null, isMore: false }
    if (rawDays === undefined) return nothing
    if (!this.#hasFinished) await this.#finishFormer(round)
    const wantedMs = floorTo(nowMs, dayMs) - rawDays * dayMs
    let waits = archiveWait(catalogue, wantedMs)
    const next = await this.#nextDays(round, Math.min(wantedMs, completeMs(catalogue)))
    const days: Day[] = []
    for (const day of next.days) {
      const why = await statisticsWait(system, catalogue.end.position, day.startMs)
      if (why === undefined) days.push(day)
      else waits ??= why
    }
    const last = days.at(-1)
    if (last === undefined) return { ...nothing, waits }
    checkOrder(catalogue)
    const runs = new Map(days.flatMap((day) => day.runs.map((run) => [run.run, run])))
    for (const run of runs.values()) {
      stop.throwIfAborted()
      await proveRun(run, round)
    }
    await this.#record(round, {
      rawBeforeMs: last.startMs + dayMs,
      run: Math.max(...runs.keys()),
    })
    let [deleted, left] = [0, 0]
    await using writer = await round.openWriter()
    const reading = { range: store.range, signature: store.signature }
    for (const { startMs, runs: of } of days) {
      const done = await expireDay({
        ...round,
        dayStartMs: startMs,
        files: of.flatMap(({ files }) => files.filter(({ day }) => dayStart(day) === startMs)),
        n: catalogue.end.n,
        store: { ...reading, deleteReadings: writer.deleteReadings },
      })
      deleted += done.deleted
      left += done.left
      this.#done.set(startMs, lastOf(of))
    }
    if (writer.deletesByTime && deleted > 0) await writeLate(round, writer)
    return { deleted, left, waits, isMore: next.isMore }
  }

  /** A former process may have been killed between a deletion and what follows it. */
  async #finishFormer(round: Round): Promise<void> {
    if (round.store.deletesByTime) {
      await using writer = await round.openWriter()
      await writeLate(round, writer)
    }
    this.#hasFinished = true
  }

  /**
   * The oldest days that have rows to delete, of runs with four million readings at most. A day without rows
   * that is not recorded is one of them: the record was lost with a NATS server that is older than the store.
   */
  async #nextDays(
    { catalogue, store, system }: Round,
    beforeMs: number,
  ): Promise<{ readonly days: readonly Day[]; readonly isMore: boolean }> {
    const recordedMs = (await retentionIn(system)).rawBeforeMs ?? 0
    const days: Day[] = []
    const taken = new Map<number, number>()
    for (const day of daysOf(catalogue)) {
      const { startMs, runs } = day
      if (startMs >= beforeMs || (this.#done.get(startMs) ?? 0) >= lastOf(runs)) continue
      const [row] = await store.rangeAll(startMs, startMs + dayMs, 1, undefined, 'asc')
      if (row === undefined && startMs < recordedMs) {
        this.#done.set(startMs, lastOf(runs))
        continue
      }
      for (const { run, readings } of runs) taken.set(run, readings)
      const readings = [...taken.values()].reduce((sum, count) => sum + count, 0)
      if (days.length > 0 && readings > mostReadings) return { days, isMore: true }
      days.push(day)
    }
    return { days, isMore: false }
  }

  /** It never goes back. */
  async #record({ system, pause }: Round, wanted: Partial<Retention> & { readonly run: number }) {
    const entry = await system.get(systemKeys.retention)
    const former = await retentionIn(system)
    const further = (a: number | null = null, b: number | null): number | null =>
      a === null || b === null ? (a ?? b) : Math.max(a, b)
    const next = retentionText({
      rawBeforeMs: further(wanted.rawBeforeMs, former.rawBeforeMs),
      blobsBeforeBatch: further(wanted.blobsBeforeBatch, former.blobsBeforeBatch),
      run: Math.max(wanted.run, former.run ?? 0),
    })
    if (next === retentionText(former)) return
    if (entry?.operation === 'PUT') await system.update(systemKeys.retention, next, entry.revision)
    else await system.put(systemKeys.retention, next)
    await pause(noticeMs)
  }

  /** A run at a time, and a look once for each day and run. */
  async #expireBlobs(round: Round) {
    const { blobDays, catalogue, system, manager, nowMs, folder, stop } = round
    const nothing = { deleted: 0, waits: null, isMore: false }
    if (blobDays === undefined) return nothing
    const beforeMs = floorTo(nowMs, dayMs) - blobDays * dayMs
    const look = beforeMs + catalogue.runs.length
    if (this.#blobsLookedAt === look) return nothing
    if (!(await canPurgeBlobs(manager))) {
      const waits =
        'leaves stay: the stream BLOBS was made by an earlier version, and NATS does not let it be purged (docs/operations.md, Retention)'
      return { ...nothing, waits }
    }
    const former = (await retentionIn(system)).blobsBeforeBatch ?? 1
    // what a killed process has left
    let deleted = await purgeBlobs(manager, former, stop)
    const listed = catalogue.runs.find(({ after }) => after.batch >= former)
    const headers = listed === undefined ? [] : (await readRun(folder, listed)).runs
    const due = headers
      .flatMap((run) => run.headers)
      .filter(({ index, sealedMs }) => index >= former && sealedMs < beforeMs)
    const last = due.at(-1)
    if (listed === undefined || last === undefined) {
      this.#blobsLookedAt = look
      return { ...nothing, deleted }
    }
    checkOrder(catalogue)
    await proveRun(listed, round)
    await this.#record(round, { blobsBeforeBatch: last.index + 1, run: listed.run })
    deleted += await purgeBlobs(manager, last.index + 1, stop)
    return { deleted, waits: null, isMore: true }
  }
}

/** Readers that watch the record have it before anything is gone. */
const noticeMs = 2 * secondMs

const lastOf = (runs: readonly CatalogueRun[]): number => runs.at(-1)?.run ?? 0

const completeMs = ({ complete_until }: Catalogue): number =>
  complete_until === null ? 0 : Date.parse(complete_until)

function archiveWait(catalogue: Catalogue, wantedMs: number): string | null {
  const { complete_until } = catalogue
  if (completeMs(catalogue) >= wantedMs) return null
  const until =
    complete_until === null ? 'has no complete day yet' : `is complete until ${complete_until} only`
  return `the archive ${until}, and readings before ${formatIso(wantedMs)} are to go: \`airproof archive status\` says more`
}

/** Every day that the archive has, the oldest first. */
function daysOf({ runs }: Catalogue): readonly Day[] {
  const days = new Map<string, CatalogueRun[]>()
  for (const run of runs)
    for (const { day } of run.files) {
      const of = days.get(day)
      if (of === undefined) days.set(day, [run])
      else of.push(run)
    }
  return [...days]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, of]) => ({ startMs: dayStart(day), runs: of }))
}
