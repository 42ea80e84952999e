/**
 * What the chain does not say, held against what it is made from: the areas of rows against the
 * registry, their flags and index against the published rules, what their devices signed against the
 * leaves, the statistics of areas against the rows. Of rows of version 1 that shows whether the store agrees with itself; of version 2 area and
 * flags are anchored, so what differs is the registry, or the rules were not followed.
 */
import { isDeepStrictEqual } from 'node:util'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeepCheck } from '../../anchor/audit/audit.ts'
import { derivedFlagsWords, signaturesWords } from '../../anchor/audit/coverage.ts'
import type { Findings } from '../../anchor/audit/findings.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import type { Reading } from '../../core/air/reading.ts'
import { type SensorId, sensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { createRollupProgress, parseRollupRecord } from '../../operate/rollup-progress.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import { watchBucket } from '../../runtime/nats/watched-bucket.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { parseAnySensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { areaStats } from '../../store/stat-fields.ts'
import type { AreaStats, BucketSize, Store } from '../../store/store.ts'
import { latestMs } from '../export/stored-rows.ts'
import { checkAreas, checkRules, checkSignatures, checkUnsigned } from './row-faults.ts'
import { storedLog } from './stored-log.ts'

export type DeepAudit = DeepCheck & {
  /** Every row once, before `run`. */
  readonly see: (rows: readonly Reading[]) => Promise<void>
}

type Sources = Pick<Store, 'computeBuckets' | 'areaHours' | 'areaDays' | 'signature' | 'keptFromMs'>
type Step = { readonly area: string; readonly size: BucketSize; readonly startMs: number }

const stepMsOf = { hour: hourMs, day: dayMs } as const
/** One query computes so many steps. */
const mostSteps = 24 * 31

export async function openDeepAudit(
  nc: NatsConnection,
  { idPrefix }: Pick<SharedConfig, 'idPrefix'>,
  store: Sources,
): Promise<DeepAudit> {
  const ids = sensorIdRules(idPrefix)
  await using sensors = await watchBucket(nc, buckets.sensors, (value, key) =>
    parseAnySensor(value, ids, key),
  )
  const all = new Map([...sensors.entries()].map(([, sensor]) => [sensor.id, sensor]))
  const known = new Map([...all].filter(([, { retiredMs }]) => retiredMs === undefined))
  const areas = checkAreas(({ sensor, timeMs }) => {
    const registered = known.get(sensor)
    return registered && siteAt(registered, timeMs).area
  })
  const rules = checkRules()
  // a retired sensor has signed what it sent before
  const keysOf = (sensor: SensorId) => all.get(sensor)?.keys ?? []
  const signatures = checkSignatures(store, keysOf, await createKeccak())
  const unsigned = checkUnsigned((sensor) => all.get(sensor)?.mustSignSinceMs)
  return {
    covers: ['area', derivedFlagsWords, signaturesWords, 'statistics of areas'],
    see: async (rows) => {
      areas.see(rows)
      rules.see(rows)
      unsigned.see(rows)
      await signatures.see(rows)
    },
    run: async (findings) => {
      areas.tell(findings)
      rules.tell(findings)
      unsigned.tell(findings)
      signatures.tell(findings)
      const { names, fromMs, toMs } = areas.seen()
      for (const { sites } of known.values()) for (const { area } of sites) names.add(area)
      const steps: Step[] = []
      for (const area of names)
        for (const size of ['hour', 'day'] as const) {
          steps.push(...(await differences(store, { area, size, fromMs, toMs })))
          steps.push(...(await withoutRows(store, { area, size, fromMs, toMs })))
        }
      // after they were read: of what began before it the store may have dropped rows
      const keptFromMs = (await store.keptFromMs()) ?? -Infinity
      const differing = steps.filter(({ startMs }) => startMs >= keptFromMs)
      if (differing.length === 0) return []
      const unwritten = await unwrittenSteps(nc)
      if (unwritten === undefined) {
        findings.add(
          'statistics',
          undefined,
          'it is not known how far they are computed, so they cannot be held against the rows: is `airproof pipeline` running?',
        )
        return []
      }
      return await tellDiffering({ store, differing, unwritten }, findings)
    },
  }
}

/** Only the pipeline's own record says which steps are unwritten; it writes them within minutes. */
const longestUnwrittenMs = dayMs
const unwrittenWords =
  'they are not those of its rows, and ended more than a day ago: the pipeline says that they are still to be written. Audit again when it has caught up'

type Differing = {
  readonly store: Sources
  readonly differing: readonly Step[]
  readonly unwritten: (area: string, size: BucketSize, startMs: number) => boolean
}

/** @returns in words, how many are excused */
async function tellDiffering(
  { store, differing, unwritten }: Differing,
  findings: Findings,
): Promise<readonly string[]> {
  const nowMs = Date.now()
  let excused = 0
  for (const { area, size, startMs } of differing) {
    const toMs = startMs + stepMsOf[size]
    const isUnwritten = unwritten(area, size, startMs)
    if (isUnwritten && toMs > nowMs - longestUnwrittenMs) {
      excused++
      continue
    }
    // the statistics may have been written since they were looked at
    if ((await differences(store, { area, size, fromMs: startMs, toMs })).length === 0) continue
    const why = isUnwritten ? unwrittenWords : 'they are not those of its rows'
    findings.add('statistics', undefined, `${area}, ${size} of ${formatIso(startMs)}: ${why}`)
  }
  if (excused === 0) return []
  return [
    `${excused} statistics of hours and days are not those of their rows, and were not compared: they are not over, or the pipeline says that they are still to be written`,
  ]
}

type Span = Omit<Step, 'startMs'> & { readonly fromMs: number; readonly toMs: number }

/** The steps of the span of which the store holds other statistics than its rows give. */
async function differences(store: Sources, { area, size, fromMs, toMs }: Span): Promise<Step[]> {
  const stepMs = stepMsOf[size]
  const read = size === 'hour' ? store.areaHours : store.areaDays
  const found: Step[] = []
  for (let start = floorTo(fromMs, stepMs); start < toMs; start += mostSteps * stepMs) {
    const end = Math.min(start + mostSteps * stepMs, floorTo(toMs - 1, stepMs) + stepMs)
    const [kept, made] = await Promise.all([
      read(area, start, end),
      store.computeBuckets(area, start, end, size),
    ])
    const byStart = (list: readonly AreaStats[]) => new Map(list.map((one) => [one.startMs, one]))
    const [keptBy, madeBy] = [byStart(kept), byStart(made)]
    for (const startMs of new Set([...keptBy.keys(), ...madeBy.keys()]))
      if (!isSame(keptBy.get(startMs), madeBy.get(startMs))) found.push({ area, size, startMs })
  }
  return found
}

/** An earlier version wrote fewer statistics: those that it left out are not compared. */
function isSame(kept: AreaStats | undefined, made: AreaStats | undefined): boolean {
  if (kept === undefined || made === undefined) return kept === made
  const { area, startMs, readings } = made
  const then = areaStats(area, startMs, readings, (field) => {
    const stats = made.fields[field]
    const isOlder = kept.fields[field].q25 === null
    return isOlder ? { ...stats, sd: null, q02: null, q25: null, q75: null } : stats
  })
  return isDeepStrictEqual(kept, then)
}

/** The steps before and after all rows of which the store holds statistics. @param span of the rows */
async function withoutRows(store: Sources, { area, size, fromMs, toMs }: Span): Promise<Step[]> {
  const stepMs = stepMsOf[size]
  const read = size === 'hour' ? store.areaHours : store.areaDays
  const isEmpty = fromMs >= toMs
  const expected = isEmpty
    ? await read(area, 0, latestMs)
    : [
        ...(await read(area, 0, floorTo(fromMs, stepMs))),
        ...(await read(area, floorTo(toMs - 1, stepMs) + stepMs, latestMs)),
      ]
  return expected.map(({ startMs }) => ({ area, size, startMs }))
}

/** Whether the statistics of a step are still to be written, or written again; undefined: not known. */
async function unwrittenSteps(
  nc: NatsConnection,
): Promise<((area: string, size: BucketSize, startMs: number) => boolean) | undefined> {
  const nowMs = Date.now()
  const progress = createRollupProgress()
  const entry = await (await new Kvm(nc).open(buckets.system)).get(systemKeys.rollup)
  progress.record(entry?.operation === 'PUT' ? parseRollupRecord(entry.json()) : undefined)
  for await (const { seq, message } of storedLog(nc, progress.position() + 1))
    progress.note(seq, message.readings)
  if (progress.unwritten(wholeNetwork, 'hour') === 'all') return undefined
  return (area, size, startMs) => {
    const unwritten = progress.unwritten(area, size)
    return startMs + stepMsOf[size] > nowMs || unwritten === 'all' || unwritten.has(startMs)
  }
}
