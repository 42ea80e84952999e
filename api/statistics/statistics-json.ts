import type { AirIndex, Pollutant } from '../../core/air/index/air-index.ts'
import { storedIndex } from '../../core/air/index/indices.ts'
import { type QuantityName, units } from '../../core/air/quantities.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { formatLocal, type TimeZone } from '../../core/local-time.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { noValues } from '../../store/stat-fields.ts'
import {
  correctedColumn,
  type FieldStats,
  type StatField,
  type StepStats,
} from '../../store/store.ts'
import { rounded, tenths } from '../areas/area-json.ts'
import type { Interval } from '../http/intervals.ts'
import { correctionsWord } from '../readings/corrections.ts'
import { csvText } from '../readings/reading-formats.ts'
import type { Found } from './ask-store.ts'
import type { ExpectedCount } from './expected-count.ts'
import { type Gathered, isGathered, type NumberName } from './read-request.ts'

/** From this part of what was expected on, a step counts as measured. */
export const neededCoverage = 0.75

export type StepJson = {
  readonly start_time?: string
  readonly end_time?: string
  readonly local_start?: string
  readonly hour?: number
  readonly weekday?: string
  readonly coverage: CoverageJson
  /** null: not known of hours that an earlier version wrote. */
  readonly left_out: number | null
  readonly valid: boolean
  readonly aqi: Numbers & {
    readonly category: string | null
    readonly dominant_pollutant: Pollutant | null
  }
  readonly measurements: Measured
  /** By model. */
  readonly corrections?: Readonly<Record<string, Measured>>
}
type Measured = Readonly<Record<string, MeasurementJson>>
type CoverageJson = {
  readonly expected: number
  readonly observed: number
  readonly percent: number | null
}
/** Those that were asked for. */
type Numbers = { readonly n: number | null } & {
  readonly [Name in NumberName]?: number | null
}
type MeasurementJson = Numbers & { readonly unit: string; readonly valid: boolean }

/** What the store calls them. */
const statOf = {
  mean: 'mean',
  sd: 'sd',
  min: 'min',
  q02: 'q02',
  q25: 'q25',
  median: 'p50',
  q75: 'q75',
  q98: 'p98',
  max: 'max',
} as const satisfies Readonly<Record<NumberName, keyof FieldStats>>

const numbers = (
  n: number | null,
  wanted: readonly NumberName[],
  valueOf: (stat: (typeof statOf)[NumberName]) => number | null,
): Numbers => ({
  n,
  ...Object.fromEntries(wanted.map((name) => [name, valueOf(statOf[name])])),
})

/** The fields that an answer needs: an index of its own concentrations, the stored one of its own. */
export const fieldsFor = (measurements: readonly QuantityName[]): readonly StatField[] => [
  ...new Set<StatField>([...measurements, 'pm25', 'pm10', 'aqi']),
]

type Shown = {
  readonly found: Found
  readonly interval: Interval
  readonly zone: TimeZone
  readonly measurements: readonly QuantityName[]
  readonly numbers: readonly NumberName[]
  readonly index: AirIndex
  readonly corrections: readonly Correction[]
  readonly expected: ExpectedCount
  readonly nowMs: number
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** What a step that gathers is of, by its number. */
const gatheredBy = {
  hour_of_day: (hour) => ({ hour }),
  weekday: (day) => ({ weekday: weekdays[day - 1] ?? '' }),
  hour_of_week: (hour) => ({ weekday: weekdays[Math.floor(hour / 24)] ?? '', hour: hour % 24 }),
} as const satisfies Readonly<Record<Gathered, (number: number) => Partial<StepJson>>>

const whenColumns = {
  hour_of_day: ['hour'],
  weekday: ['weekday'],
  hour_of_week: ['weekday', 'hour'],
} as const satisfies Readonly<Record<Gathered, readonly (keyof StepJson)[]>>

/** Each step that has readings or should have. */
export function stepsJson(shown: Shown): StepJson[] {
  const { found, interval, zone, corrections, expected, nowMs } = shown
  const { edges, steps, numbers: all } = found.grid
  const byStep = new Map(found.steps.map((step) => [step.step, step]))
  const due = new Map<number, { sent: number; whole: number; fromMs: number; toMs: number }>()
  for (const [at, step] of steps.entries()) {
    const fromMs = edges[at]!
    const toMs = edges[at + 1]!
    const so = due.get(step) ?? { sent: 0, whole: 0, fromMs, toMs }
    so.sent += expected(fromMs, Math.min(toMs, nowMs))
    so.whole += expected(fromMs, toMs)
    due.set(step, so)
  }
  return all.flatMap((number): StepJson[] => {
    const stats = byStep.get(number) ?? nothingOf(number)
    const { sent = 0, whole = 0, fromMs = 0, toMs = 0 } = due.get(number) ?? {}
    if (stats.readings === 0 && stats.leftOut === 0 && sent === 0) return []
    const isValid = (n: number): boolean => n > 0 && whole > 0 && n >= neededCoverage * whole
    const measured = (name: QuantityName, stat: FieldStats = noValues): MeasurementJson => {
      const values = numbers(stat.n, shown.numbers, (of) => rounded(stat[of]))
      return { ...values, unit: units[name], valid: isValid(stat.n) }
    }
    const when = isGathered(interval)
      ? gatheredBy[interval](number)
      : {
          start_time: formatIsoMs(fromMs),
          end_time: formatIsoMs(toMs),
          local_start: formatLocal(fromMs, zone),
        }
    return [
      {
        ...when,
        coverage: coverageJson(sent, stats.readings),
        left_out: stats.leftOut,
        valid: isValid(stats.readings),
        aqi: aqiOf(stats, shown.index, shown.numbers),
        measurements: Object.fromEntries(
          shown.measurements.map((name) => [name, measured(name, stats.fields[name])]),
        ),
        ...(corrections.length > 0 && {
          corrections: Object.fromEntries(
            corrections.map((model) => {
              const stat = stats.fields[correctedColumn(model)]
              return [model.name, { [model.of]: measured(model.of, stat) }]
            }),
          ),
        }),
      },
    ]
  })
}

const nothingOf = (step: number): StepStats => ({ step, readings: 0, leftOut: 0, fields: {} })

export const coverageJson = (expected: number, observed: number): CoverageJson => ({
  expected,
  observed,
  percent: expected === 0 ? null : Math.min(100, Math.round((observed / expected) * 1000) / 10),
})

/**
 * Of the stored index the statistics of the readings' indices; of another one the index of the
 * concentrations' statistics, whose number and deviation are not known.
 */
function aqiOf(
  { fields }: StepStats,
  index: AirIndex,
  wanted: readonly NumberName[],
): StepJson['aqi'] {
  const worst = (stat: keyof FieldStats) =>
    index.worstOf((pollutant) => fields[pollutant]?.[stat] ?? null)
  const own = fields.aqi ?? noValues
  const isStored = index === storedIndex
  const valueOf = (stat: (typeof statOf)[NumberName]): number | null => {
    if (isStored) return tenths(own[stat])
    return stat === 'sd' ? null : (worst(stat)?.value ?? null)
  }
  const mean = valueOf('mean')
  return {
    ...numbers(isStored ? own.n : null, wanted, valueOf),
    category: mean === null ? null : index.categoryOf(mean),
    dominant_pollutant: worst('mean')?.pollutant ?? null,
  }
}

/**
 * RFC 4180: a row per step, a column per number; what there is none of is empty. Corrected values come
 * last, then which models they are of.
 */
export function stepsCsv(
  rows: readonly StepJson[],
  interval: Interval,
  measurements: readonly QuantityName[],
  numberNames: readonly NumberName[],
  corrections: readonly Correction[],
): string {
  const when = isGathered(interval)
    ? whenColumns[interval]
    : (['start_time', 'end_time', 'local_start'] as const)
  const columns = ['n', ...numberNames] as const
  const columnsOf = (name: string): readonly string[] =>
    [...columns, 'valid'].map((column) => `${name}_${column}`)
  const head = [
    ...when,
    'expected',
    'observed',
    'percent',
    'left_out',
    'valid',
    ...measurements.flatMap((name) => columnsOf(name)),
    ...columns.map((column) => `aqi_${column}`),
    'aqi_category',
    'dominant_pollutant',
    ...corrections.flatMap(({ name, of }) => columnsOf(`${of}_${name}`)),
    ...(corrections.length > 0 ? ['corrections'] : []),
  ]
  const models = corrections.length > 0 ? [correctionsWord(corrections)] : []
  const cellsOf = (of: MeasurementJson | undefined): readonly unknown[] => [
    ...columns.map((column) => of?.[column] ?? ''),
    of?.valid ?? false,
  ]
  const cells = (row: StepJson): readonly unknown[] => [
    ...when.map((name) => row[name]),
    row.coverage.expected,
    row.coverage.observed,
    row.coverage.percent ?? '',
    row.left_out ?? '',
    row.valid,
    ...measurements.flatMap((name) => cellsOf(row.measurements[name])),
    ...columns.map((column) => row.aqi[column] ?? ''),
    row.aqi.category ?? '',
    row.aqi.dominant_pollutant ?? '',
    ...corrections.flatMap(({ name, of }) => cellsOf(row.corrections?.[name]?.[of])),
    ...models,
  ]
  return csvText([head, ...rows.map(cells)])
}
