import type { AirIndex, Pollutant } from '../../core/air/index/air-index.ts'
import { storedIndex } from '../../core/air/index/indices.ts'
import { type QuantityName, units } from '../../core/air/quantities.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { formatLocal, type TimeZone } from '../../core/local-time.ts'
import { noValues } from '../../store/stat-fields.ts'
import type { FieldStats, StatField, StepStats } from '../../store/store.ts'
import { rounded, tenths } from '../areas/area-json.ts'
import type { Interval } from '../http/intervals.ts'
import { csvText } from '../readings/reading-formats.ts'
import type { Found } from './ask-store.ts'
import type { ExpectedCount } from './expected-count.ts'
import { isGathered } from './read-request.ts'

/** From this part of what was expected on, a step counts as measured. */
export const neededCoverage = 0.75

export type StepJson = {
  readonly start_time?: string
  readonly end_time?: string
  readonly local_start?: string
  readonly hour?: number
  readonly weekday?: string
  readonly coverage: CoverageJson
  readonly valid: boolean
  readonly aqi: Numbers & {
    readonly category: string | null
    readonly dominant_pollutant: Pollutant | null
  }
  readonly measurements: Readonly<Record<string, MeasurementJson>>
}
type CoverageJson = {
  readonly expected: number
  readonly observed: number
  readonly percent: number | null
}
const numberNames = ['mean', 'sd', 'min', 'q02', 'q25', 'median', 'q75', 'q98', 'max'] as const
type Numbers = { readonly n: number | null } & {
  readonly [Name in (typeof numberNames)[number]]: number | null
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
} as const satisfies Readonly<Record<(typeof numberNames)[number], keyof FieldStats>>

const numbers = (
  n: number | null,
  valueOf: (stat: (typeof statOf)[keyof typeof statOf]) => number | null,
): Numbers => ({
  n,
  mean: valueOf('mean'),
  sd: valueOf('sd'),
  min: valueOf('min'),
  q02: valueOf('q02'),
  q25: valueOf('q25'),
  median: valueOf('p50'),
  q75: valueOf('q75'),
  q98: valueOf('p98'),
  max: valueOf('max'),
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
  readonly index: AirIndex
  readonly expected: ExpectedCount
  readonly nowMs: number
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** Each step that has readings or should have. */
export function stepsJson(shown: Shown): StepJson[] {
  const { found, interval, zone, expected, nowMs } = shown
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
    const stats = byStep.get(number) ?? { step: number, readings: 0, fields: {} }
    const { sent = 0, whole = 0, fromMs = 0, toMs = 0 } = due.get(number) ?? {}
    if (stats.readings === 0 && sent === 0) return []
    const isValid = (n: number): boolean => n > 0 && whole > 0 && n >= neededCoverage * whole
    const when = isGathered(interval)
      ? interval === 'weekday'
        ? { weekday: weekdays[number - 1] ?? '' }
        : { hour: number }
      : {
          start_time: formatIsoMs(fromMs),
          end_time: formatIsoMs(toMs),
          local_start: formatLocal(fromMs, zone),
        }
    return [
      {
        ...when,
        coverage: coverageJson(sent, stats.readings),
        valid: isValid(stats.readings),
        aqi: aqiOf(stats, shown.index),
        measurements: Object.fromEntries(
          shown.measurements.map((name) => {
            const of = stats.fields[name] ?? noValues
            const values = numbers(of.n, (stat) => rounded(of[stat]))
            return [name, { ...values, unit: units[name], valid: isValid(of.n) }]
          }),
        ),
      },
    ]
  })
}

export const coverageJson = (expected: number, observed: number): CoverageJson => ({
  expected,
  observed,
  percent: expected === 0 ? null : Math.min(100, Math.round((observed / expected) * 1000) / 10),
})

/**
 * Of the stored index the statistics of the readings' indices; of another one the index of the
 * concentrations' statistics, whose number and deviation are not known.
 */
function aqiOf({ fields }: StepStats, index: AirIndex): StepJson['aqi'] {
  const worst = (stat: keyof FieldStats) =>
    index.worstOf((pollutant) => fields[pollutant]?.[stat] ?? null)
  const own = fields.aqi ?? noValues
  const values =
    index === storedIndex
      ? numbers(own.n, (stat) => tenths(own[stat]))
      : numbers(null, (stat) => (stat === 'sd' ? null : (worst(stat)?.value ?? null)))
  return {
    ...values,
    category: values.mean === null ? null : index.categoryOf(values.mean),
    dominant_pollutant: worst('mean')?.pollutant ?? null,
  }
}

/** RFC 4180: a row per step, a column per number; what there is none of is empty. */
export function stepsCsv(
  rows: readonly StepJson[],
  interval: Interval,
  measurements: readonly QuantityName[],
): string {
  const when = isGathered(interval)
    ? ([interval === 'weekday' ? 'weekday' : 'hour'] as const)
    : (['start_time', 'end_time', 'local_start'] as const)
  const columns = ['n', ...numberNames] as const
  const head = [
    ...when,
    'expected',
    'observed',
    'percent',
    'valid',
    ...measurements.flatMap((name) => [...columns, 'valid'].map((column) => `${name}_${column}`)),
    ...columns.map((column) => `aqi_${column}`),
    'aqi_category',
    'dominant_pollutant',
  ]
  const cells = (row: StepJson): readonly unknown[] => [
    ...when.map((name) => row[name]),
    row.coverage.expected,
    row.coverage.observed,
    row.coverage.percent ?? '',
    row.valid,
    ...measurements.flatMap((name) => {
      const of = row.measurements[name]
      return [...columns.map((column) => of?.[column] ?? ''), of?.valid ?? false]
    }),
    ...columns.map((column) => row.aqi[column] ?? ''),
    row.aqi.category ?? '',
    row.aqi.dominant_pollutant ?? '',
  ]
  return csvText([head, ...rows.map(cells)])
}
