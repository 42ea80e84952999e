/**
 * Statistics of the sensors as tables: their hours, and the day itself, by day; a row for each quantity
 * that has values. As the store has them, or from readings where the statistics job has not been yet.
 */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { wholeNetwork } from '../core/air/area.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { dayMs, hourMs } from '../core/time.ts'
import { sensorDaysFile, sensorHoursFile } from '../operate/archive/archive-layout.ts'
import type { Column } from '../operate/archive/parquet-table.ts'
import { createRollupProgress, parseRollupRecord } from '../operate/rollup-progress.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { buckets } from '../schemas/subjects.ts'
import { systemKeys } from '../schemas/system-keys.ts'
import { noValues, statFields, statNames } from '../store/stat-fields.ts'
import type { BucketSize, FieldStats, StatField, StatQuery, Store } from '../store/store.ts'

type SensorStatRow = {
  readonly sensor: SensorId
  readonly startMs: number
  readonly readings: number
  readonly failed: number | null
  /** null: all readings failed, so none has values. */
  readonly field: StatField | null
  readonly stats: FieldStats
}

export const sensorStatisticsColumns: readonly Column<SensorStatRow>[] = [
  { name: 'sensor_id', kind: 'text', isNeeded: true, of: ({ sensor }) => sensor },
  { name: 'start', kind: 'time', isNeeded: true, of: ({ startMs }) => startMs },
  { name: 'readings', kind: 'int', isNeeded: true, of: ({ readings }) => readings },
  // none: an earlier version wrote the row, and they are in its statistics
  { name: 'failed', kind: 'int', of: ({ failed }) => failed },
  { name: 'quantity', kind: 'text', of: ({ field }) => field },
  ...statNames.map(
    (name): Column<SensorStatRow> => ({
      name,
      kind: name === 'n' ? 'int' : 'number',
      of: ({ stats }) => stats[name],
    }),
  ),
]

type Period = { readonly path: string; readonly size: BucketSize; readonly dayStartMs: number }

/** The files that hold statistics of these days, as far as they are over. */
export const sensorPeriodsOf = (dayStarts: readonly number[], untilMs: number): readonly Period[] =>
  dayStarts
    .filter((dayStartMs) => dayStartMs + dayMs <= untilMs)
    .flatMap((dayStartMs) => [
      { path: sensorHoursFile(dayStartMs), size: 'hour', dayStartMs },
      { path: sensorDaysFile(dayStartMs), size: 'day', dayStartMs },
    ])

type Written = Record<BucketSize, Pick<StatQuery, 'unwritten' | 'writtenFromMs'>>

/** What may be read as written. @param position the log up to here is in the archive */
export async function writtenStatistics(nc: NatsConnection, position: number): Promise<Written> {
  const system = await new Kvm(nc).open(buckets.system)
  const progress = createRollupProgress()
  progress.record(parseRollupRecord(await readEntry(system, systemKeys.rollup)))
  const isRead = progress.position() >= position
  const of = (size: BucketSize) => ({
    unwritten: isRead ? progress.unwritten(wholeNetwork, size) : ('all' as const),
    writtenFromMs: progress.sensorsFromMs(),
  })
  return { hour: of('hour'), day: of('day') }
}

type Source = {
  readonly store: Pick<Store, 'statistics'>
  readonly sensors: readonly SensorId[]
  readonly written: Written
  readonly stop: AbortSignal
}

/** Read side by side, so that the store and the file work at the same time. */
const sensorsAtOnce = 16

/** By sensor, time, and the order of the quantities. */
export async function* sensorStatisticsOf(
  { size, dayStartMs }: Period,
  { store, sensors, written, stop }: Source,
): AsyncGenerator<SensorStatRow> {
  const sizeMs = size === 'hour' ? hourMs : dayMs
  const edges: number[] = []
  for (let at = dayStartMs; at <= dayStartMs + dayMs; at += sizeMs) edges.push(at)
  const steps = edges.slice(1).map((_, at) => at)
  const rest = { edges, steps, fields: statFields, from: size, ...written[size] }
  for (let at = 0; at < sensors.length; at += sensorsAtOnce) {
    stop.throwIfAborted()
    const some = sensors.slice(at, at + sensorsAtOnce)
    const made = await Promise.all(
      some.map((sensor) => store.statistics({ of: { sensors: [sensor] }, ...rest })),
    )
    for (const [place, stepsOfSensor] of made.entries())
      for (const { step, readings, leftOut: failed, fields } of stepsOfSensor) {
        const head = { sensor: some[place]!, startMs: edges[step]!, readings, failed }
        if (readings === 0 && failed !== 0) yield { ...head, field: null, stats: noValues }
        for (const field of statFields) {
          const stats = fields[field]
          if (stats === undefined || stats.n === 0) continue
          yield { ...head, field, stats }
        }
      }
  }
}
