/**
 * A first pass over an archive: which sensors, where they were and when, so that a replay can
 * refuse before it has sent anything, and can show its progress.
 */
import type { SensorId } from '../../core/air/sensor-id.ts'
import { MustAct } from '../../runtime/exit.ts'
import {
  type ArchiveFormat,
  type ArchiveReading,
  noRows,
  type Place,
  type RowCounts,
} from './archive-format.ts'
import { readArchive } from './read-archive.ts'

/** A stay at one place according to one file: from its first reading there. */
type Stay = { fromMs: number; readonly place: Place }

export type SurveyedSensor = {
  readings: number
  readonly stays: Stay[]
}

export type Survey<Id extends string = SensorId> = {
  readonly sensors: ReadonlyMap<Id, SurveyedSensor>
  /** By the time of their first reading, so that a replay need not hold all of them open. */
  readonly files: readonly SurveyedFile[]
  readonly counts: RowCounts
  readonly readings: number
  /** Of the readings with a time; undefined where there is none. */
  readonly firstMs: number | undefined
  readonly lastMs: number | undefined
}

export type SurveyedFile = { readonly file: string; readonly firstMs: number }

type SurveyOptions<Id extends string> = {
  readonly format: ArchiveFormat
  readonly idOf: (name: string) => Id | undefined
  readonly onUnsendable?: (where: string, why: string) => void
  readonly stop?: AbortSignal | undefined
}

/** @throws MustAct that names the file and what is wrong with it */
export async function surveyArchive<Id extends string = SensorId>(
  files: readonly string[],
  { format, idOf, onUnsendable, stop }: SurveyOptions<Id>,
): Promise<Survey<Id>> {
  const sensors = new Map<Id, SurveyedSensor>()
  const counts = noRows()
  const surveyed: SurveyedFile[] = []
  let readings = 0
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY

  for (const file of files) {
    const current = new Map<Id, Stay>()
    let fileFirstMs = Number.POSITIVE_INFINITY
    for await (const chunk of readArchive(file, {
      format,
      counts,
      ...(onUnsendable === undefined ? {} : { onUnsendable }),
    })) {
      stop?.throwIfAborted()
      for (const reading of chunk) {
        const id = idOf(reading.sensor)
        if (id === undefined)
          throw new MustAct(`${file}: no sensor id can be made of the name "${reading.sensor}"`)
        const sensor = sensors.get(id) ?? { readings: 0, stays: [] }
        sensors.set(id, sensor)
        sensor.readings += itemsOf(reading)
        readings += itemsOf(reading)
        if (reading.timeMs === undefined) continue
        if (reading.timeMs < fileFirstMs) fileFirstMs = reading.timeMs
        if (reading.timeMs > lastMs) lastMs = reading.timeMs
        noteStay(sensor, current, id, { ...reading, timeMs: reading.timeMs })
      }
    }
    firstMs = Math.min(firstMs, fileFirstMs)
    surveyed.push({ file, firstMs: fileFirstMs })
  }
  return {
    sensors,
    files: surveyed.toSorted((a, b) => a.firstMs - b.firstMs),
    counts,
    readings,
    firstMs: Number.isFinite(firstMs) ? firstMs : undefined,
    lastMs: Number.isFinite(lastMs) ? lastMs : undefined,
  }
}

/** The number of its readings. */
export const itemsOf = ({ message }: ArchiveReading): number => message?.items ?? 1

type TimedReading = ArchiveReading & { readonly timeMs: number }

function noteStay<Id extends string>(
  sensor: SurveyedSensor,
  current: Map<Id, Stay>,
  id: Id,
  { place, timeMs }: TimedReading,
): void {
  if (place === undefined) return
  const stay = current.get(id)
  if (stay !== undefined && isSamePlace(stay.place, place)) {
    stay.fromMs = Math.min(stay.fromMs, timeMs)
    return
  }
  const next = { fromMs: timeMs, place }
  current.set(id, next)
  sensor.stays.push(next)
}

/**
 * By the archive's own name of the place, whose coordinates may be corrected; else by coordinates.
 */
export const isSamePlace = (a: Place, b: Place): boolean =>
  a.location === '' || b.location === ''
    ? a.lat === b.lat && a.lon === b.lon
    : a.location === b.location
