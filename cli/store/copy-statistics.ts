import { wholeNetwork } from '../../core/air/area.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { noValues, sensorStats, statFields } from '../../store/stat-fields.ts'
import type { AreaStats, BucketSize, FieldStats, SensorStats, Store } from '../../store/store.ts'
import type { CopyOptions } from './copy-readings.ts'

export type CopiedStatistics = {
  readonly compared: number
  readonly written: number
  /** Those that the job of a running instance writes while they are compared: they are not copied. */
  readonly changing: number
}

type Options = Pick<CopyOptions, 'source' | 'target' | 'insist'> & {
  readonly nowMs: number
  /** Of the areas and sensors done, how many of all. */
  readonly onDone: (done: number, all: number) => void
}

/** One series of rows: what reads it, and what writes it. */
type Series<Row> = {
  readonly read: (store: Store, fromMs: number, toMs: number) => Promise<readonly Row[]>
  readonly write: (store: Store, rows: readonly Row[]) => Promise<void>
}

/** Steps in one question, within what one answer may have. */
const spanMs = 30 * dayMs
const sizes: readonly BucketSize[] = ['hour', 'day']

/**
 * Hours and days of areas and sensors, as they are: where only the archive still has the readings they
 * could not be made again, and for years of readings it would take the job days.
 */
export async function copyStatistics(options: Options): Promise<CopiedStatistics> {
  const { source, target, insist, onDone, nowMs } = options
  const first = await insist(() => firstDay(source))
  const total = { compared: 0, written: 0, changing: 0 }
  if (first === undefined) return total
  const { areas, sensors } = await insist(() => source.names())
  const areaNames = [...new Set([...areas, wholeNetwork])]
  const all = areaNames.length + sensors.length
  const copy = async <Row extends AreaStats | SensorStats>(series: Series<Row>): Promise<void> => {
    for (let fromMs = first; fromMs < nowMs + dayMs; fromMs += spanMs) {
      const span = { fromMs, toMs: Math.min(fromMs + spanMs, floorTo(nowMs, dayMs) + dayMs) }
      const done = await insist(() => copySpan(series, source, target, span))
      total.compared += done.compared
      total.written += done.written
      total.changing += done.changing
    }
  }
  let done = 0
  for (const area of areaNames) {
    for (const size of sizes) await copy(seriesOfArea(area, size))
    onDone(++done, all)
  }
  for (const sensor of sensors) {
    for (const size of sizes) await copy(seriesOfSensor(sensor, size))
    onDone(++done, all)
  }
  return total
}

async function copySpan<Row extends AreaStats | SensorStats>(
  { read, write }: Series<Row>,
  source: Store,
  target: Store,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<CopiedStatistics> {
  const differing = async (): Promise<{ readonly all: number; readonly rows: Row[] }> => {
    const [from, to] = await Promise.all([source, target].map((one) => read(one, fromMs, toMs)))
    const there = new Map(to!.map((row) => [row.startMs, row]))
    const rows = from!.filter((row) => !isSameRow(row, there.get(row.startMs)))
    return { all: from!.length, rows }
  }
  const { all, rows } = await differing()
  if (rows.length === 0) return { compared: all, written: 0, changing: 0 }
  const whole = rows.filter(isWhole)
  await write(target, whole)
  const after = await differing()
  return { compared: all, written: whole.length, changing: after.rows.length }
}

const seriesOfArea = (area: string, size: BucketSize): Series<AreaStats> =>
  size === 'hour'
    ? {
        read: async (store, fromMs, toMs) => store.areaHours(area, fromMs, toMs),
        write: async (store, rows) => store.writeAreaHours(rows),
      }
    : {
        read: async (store, fromMs, toMs) => store.areaDays(area, fromMs, toMs),
        write: async (store, rows) => store.writeAreaDays(rows),
      }

const seriesOfSensor = (sensor: SensorId, size: BucketSize): Series<SensorStats> => ({
  read: async (store, fromMs, toMs) => {
    const stepMs = size === 'hour' ? hourMs : dayMs
    const count = Math.ceil((toMs - fromMs) / stepMs)
    const steps = await store.statistics({
      of: { sensors: [sensor] },
      edges: Array.from({ length: count + 1 }, (_, at) => fromMs + at * stepMs),
      steps: Array.from({ length: count }, (_, at) => at),
      fields: statFields,
      from: size,
      // only what is written is read, and one written row is one step, as it is
      unwritten: new Set(),
      writtenFromMs: 0,
    })
    return steps.map(({ step, readings, leftOut, fields }) =>
      sensorStats(
        sensor,
        { startMs: fromMs + step * stepMs, readings, failed: leftOut },
        (field) => fields[field] ?? noValues,
      ),
    )
  },
  write: async (store, rows) =>
    size === 'hour' ? store.writeSensorHours(rows) : store.writeSensorDays(rows),
})

async function firstDay(store: Store): Promise<number | undefined> {
  const [reading] = await store.rangeAll(0, Date.now() + dayMs, 1, undefined, 'asc')
  // those of readings that are gone stay
  const [day] = await store.areaDays(wholeNetwork, 0, Date.now() + dayMs)
  const times = [reading?.timeMs, day?.startMs].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : floorTo(Math.min(...times), dayMs)
}

/** Of a field that has values. What an earlier version wrote of an area may lack the others. */
const ofEvery = ['mean', 'min', 'max', 'p50', 'p98'] as const
const ofSensors = [...ofEvery, 'q02', 'q25', 'q75'] as const

/**
 * InfluxDB shows some fields of a row before the others while it is written. The job writes it now, so
 * after the record of statistics that was read first, and its row is written again.
 */
function isWhole(row: AreaStats | SensorStats): boolean {
  const needed = 'sensor' in row ? ofSensors : ofEvery
  return statFields.every((field) => {
    const stats = row.fields[field]
    return stats.n === 0 || needed.every((name) => stats[name] !== null)
  })
}

function isSameRow(a: AreaStats | SensorStats, b: AreaStats | SensorStats | undefined): boolean {
  return (
    b !== undefined &&
    a.readings === b.readings &&
    a.failed === b.failed &&
    statFields.every((field) => isSameField(a.fields[field], b.fields[field]))
  )
}

/** Of an empty field only its count says anything. */
const isSameField = (a: FieldStats, b: FieldStats): boolean =>
  a.n === b.n &&
  (a.n === 0 ||
    Object.entries(a).every(([name, value]) => isNear(value, Reflect.get(b, name) ?? null)))

/** One engine keeps a sum, the other one the mean of it: the last digit of a double may differ. */
const isNear = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a))
