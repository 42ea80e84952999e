/** A reading, where it stands now, and when it should be anchored. */
import type { Reading } from '../../core/air/reading.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIso, formatIsoMs } from '../../core/iso-time.ts'
import { isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import { minuteMs } from '../../core/time.ts'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import type { MismatchWhy, ProveReading, Verdict } from '../../operate/proofs/prove-reading.ts'
import type { Logger } from '../../runtime/log.ts'
import { gaugeIn } from '../../runtime/metrics.ts'
import { Counter, type Registry } from '../../runtime/prometheus.ts'
import type { Asker } from '../http/answer.ts'
import { ApiError, badParameter, unavailable } from '../http/api-error.ts'
import { latestMs, type Params, readTime } from '../http/params.ts'
import type { QueryStore } from '../http/query-store.ts'
import { findSensorId } from '../live/find-sensor.ts'
import type { NewestReadings } from '../live/newest-readings.ts'
import type { SensorBoard } from '../live/sensor-board.ts'

export type ReadingSources = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly newest: NewestReadings
  readonly queryStore: QueryStore
}

export type ProofSources = ReadingSources & {
  readonly prove: ProveReading
  readonly reportMismatch: ReportMismatch
}

export type WantedReading = {
  readonly asker: Asker
  /** The sensor's id as the client wrote it. */
  readonly name: string
  readonly timeMs: number
}

export type ProvenReading = { readonly reading: Reading; readonly verdict: Verdict }

/**
 * A reading and where it stands now. A mismatch is reported to the operator. A reading that is
 * accepted and not stored yet is pending: without a row there is nothing to prove.
 * @throws ApiError 404 no such reading; 503 the records of the batches cannot be read now
 */
export async function provenReading(
  sources: ProofSources,
  wanted: WantedReading,
): Promise<ProvenReading> {
  const { reading, isStored } = await findReading(sources, wanted)
  const verdict = await orUnavailable(sources.prove(reading))
  if (verdict.status === 'mismatch') sources.reportMismatch(reading, verdict)
  return { reading, verdict: isStored ? verdict : { status: 'pending', hash: verdict.hash } }
}

/** `timestamp`, which these routes require. @throws ApiError 400 */
export function needTime(params: Params): number {
  const timeMs = readTime(params, 'timestamp')
  if (timeMs !== undefined) return timeMs
  throw badParameter('timestamp', undefined, 'the ISO 8601 time of the reading')
}

type FoundReading = {
  readonly reading: Reading
  /** False: accepted, but its row is not in the database (yet). */
  readonly isStored: boolean
}

/** The one reading of a sensor at a time, from the store. @throws ApiError 404 */
async function findReading(
  { board, rules, newest, queryStore }: ReadingSources,
  { asker, name, timeMs }: WantedReading,
): Promise<FoundReading> {
  const sensor = findSensorId(board, rules, name)
  const stored = await queryStore(asker, (store, signal) => store.within(signal).at(sensor, timeMs))
  if (stored !== undefined) return { reading: stored, isStored: true }
  const [accepted] =
    newest.page({ sensor, fromMs: timeMs, toMs: Math.min(timeMs + 1, latestMs), limit: 1 }) ?? []
  if (accepted !== undefined) return { reading: accepted, isStored: false }
  throw new ApiError(404, 'reading_not_found', 'this sensor has no reading at that time', {
    details: { sensor_id: sensor, timestamp: formatIsoMs(timeMs) },
  })
}

/** Waits for records of batches. @throws ApiError 503 where they cannot be read now */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (
      error instanceof ApiError ||
      error instanceof TypeError ||
      error instanceof ArchiveUnreadable
    )
      throw error
    throw unavailable('proofs_unavailable', 'the proofs cannot be read right now', error)
  }
}

/** A row that is not what was anchored: a person must look at the database. */
type ReportMismatch = (reading: Reading, verdict: Extract<Verdict, { status: 'mismatch' }>) => void

/** The alarm: a counter in the metrics, and a line of the log for each. */
export function countMismatches({
  registry,
  index,
  log,
}: {
  readonly registry: Registry
  readonly index: Pick<BatchIndex, 'faults'>
  readonly log: Pick<Logger, 'error'>
}): ReportMismatch {
  const counter = new Counter({
    name: 'airproof_api_mismatch_total',
    help: 'Readings asked for that are not what was anchored, by reason',
    labelNames: ['reason'],
    registers: [registry],
  })
  const reasons: readonly MismatchWhy[] = ['no_batch', 'not_in_log', 'header', 'leaf', 'blob']
  for (const reason of reasons) counter.inc({ reason }, 0)
  gaugeIn(registry)(
    'airproof_api_altered_batches',
    'Batches whose records do not fit themselves or their neighbours',
    () => index.faults(),
  )
  return ({ sensor, timeMs, seq }, { why, index: batch, hash }) => {
    counter.inc({ reason: why })
    const where = { sensor, timestamp: formatIso(timeMs), seq, batch, hash }
    log.error({ reason: why, ...where }, 'a stored reading is not what was anchored')
  }
}

type Expecting = {
  readonly index: BatchIndex
  /** How long a batch stays open at most, as the anchor process is configured. */
  readonly intervalMs: number
  readonly nowMs: () => number
}

/**
 * When a reading that is not anchored for good yet should be, by the settings and by experience, in ms
 * since the epoch. What is late already is expected again from now.
 */
export type ExpectedBy = (verdict: Verdict) => number

/** Sealed to final on Ethereum, which is slower than most: where no batch of ours is final yet. */
const slowFinalityMs = 20 * minuteMs
/** The same on the chain of a demonstration. */
const quickFinalityMs = 2 * minuteMs

export function createExpectedBy({ index, intervalMs, nowMs }: Expecting): ExpectedBy {
  const firstFinalityMs = (): number => {
    const chainId = index.deployments().at(-1)?.chainId
    return chainId !== undefined && isDemonstrationChain(chainId) ? quickFinalityMs : slowFinalityMs
  }
  const finalityMs = (): number => {
    const anchored = index.anchored(index.checked()?.index ?? 0)
    const sealed = anchored && index.sealed(anchored.index)
    if (sealed === undefined || anchored?.status !== 'final') return firstFinalityMs()
    // of one that waited for a chain that was away nothing is to be learnt
    return Math.min(2 * slowFinalityMs, Math.max(0, anchored.checkedMs - sealed.header.sealedMs))
  }
  const notPast = (expectedMs: number, otherwiseMs: number): number =>
    expectedMs > nowMs() ? expectedMs : nowMs() + otherwiseMs
  return (verdict) => {
    if ('proof' in verdict) {
      const sealedMs = index.sealed(verdict.proof.header.index)?.header.sealedMs ?? 0
      return notPast(sealedMs + finalityMs(), finalityMs())
    }
    const takesMs = intervalMs + finalityMs()
    const lastMs = index.sealed(index.last())?.header.sealedMs ?? 0
    return notPast(lastMs + takesMs, takesMs)
  }
}
