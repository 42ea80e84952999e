/** Whether hours and days of a UTC day are written: once its readings are gone, the archive must be read for them. */
import type { KV } from '@nats-io/kv'
import { formatIso } from '../core/iso-time.ts'
import { dayMs } from '../core/time.ts'
import { parseRollupRecord } from '../operate/rollup-progress.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { systemKeys } from '../schemas/system-keys.ts'

/**
 * @param system bucket `system`
 * @param position the last message of the log whose readings are archived
 * @returns why not; undefined: they are
 */
export async function statisticsWait(
  system: KV,
  position: number,
  dayStartMs: number,
): Promise<string | undefined> {
  const record = parseRollupRecord(await readEntry(system, systemKeys.rollup))
  const isOfDay = ([, startMs]: readonly [string, number]): boolean =>
    startMs >= dayStartMs && startMs < dayStartMs + dayMs
  const isWritten =
    record !== undefined &&
    record.position >= position &&
    (record.sensorsFromMs ?? Infinity) <= dayStartMs &&
    ![...record.dirty, ...record.dirtyDays].some(isOfDay)
  return isWritten
    ? undefined
    : `the hours and days of ${formatIso(dayStartMs)} are not written yet: the pipeline makes them`
}
