/** `/v1/areas/{name}` over many periods beside a plain recomputation from the files. */
import { type Ask, fieldsOf, isoOf, type Json, listOf } from './ask.ts'
import type { ExpectedReading, ExpectedSensor } from './expected-city.ts'
import type { Findings } from './findings.ts'
import type { AskedPeriod } from './periods.ts'
import {
  type AreaSummary,
  dominantOf,
  fields,
  inSteps,
  ofHourlyMeans,
  ofReadings,
  type Summary,
} from './plain-statistics.ts'
import { basic, categoryOf, namesOfFlags } from './plain-values.ts'

type Options = {
  readonly ask: Ask
  readonly findings: Findings
  readonly sensors: readonly ExpectedSensor[]
  /** undefined: the whole network. */
  readonly area: string | undefined
}

const dayMs = 86_400_000
const stepMsOf = { hour: 3_600_000, day: dayMs } as const

export async function checkArea(
  periods: readonly AskedPeriod[],
  { ask, findings, sensors, area }: Options,
): Promise<void> {
  const all = sensors
    .flatMap(({ readings }) => readings.filter((one) => area === undefined || one.area === area))
    .toSorted((a, b) => a.timeMs - b.timeMs)
  for (const period of periods) {
    const { fromMs, toMs, interval } = period
    const steps = interval === undefined ? '' : `&interval=${interval}`
    const path = `/v1/areas/${encodeURIComponent(area ?? 'Lagos')}?start_time=${isoOf(fromMs)}&end_time=${isoOf(toMs)}${steps}`
    const answer = await ask.json(path)
    const where = (what: string) => () => `${path} ${what}`
    const inPeriod = all.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
    const within = withoutFailed(inPeriod)
    const isLong = toMs - fromMs > dayMs
    findings.same(where('basis'), answer['basis'], isLong ? 'hourly_means' : 'readings')
    checkSummary(answer, isLong ? ofHourlyMeans(within) : ofReadings(within), where, findings)
    findings.same(where('left_out'), answer['left_out'], inPeriod.length - within.length)
    checkCoverage(answer, period, within.length, sensors, area, where, findings)
    checkWorst(answer, period, sensors, area, where, findings)
    findings.same(where('nowcast'), fieldsOf(answer['aqi'])['nowcast'], null)
    if (interval === undefined) findings.same(where('series'), answer['series'], undefined)
    else checkSeries(answer, inPeriod, period, stepMsOf[interval], where, findings)
  }
}

type Where = (what: string) => () => string

function checkSeries(
  answer: Json,
  inPeriod: readonly ExpectedReading[],
  { fromMs }: AskedPeriod,
  stepMs: number,
  where: Where,
  findings: Findings,
): void {
  const series = listOf(answer['series']).map(fieldsOf)
  const steps = [...inSteps(inPeriod, stepMs)]
  findings.same(where('steps'), series.length, steps.length)
  for (const [i, [startMs, all]] of steps.entries()) {
    const readings = withoutFailed(all)
    const step = series[i] ?? {}
    const whereStep: Where = (what) => where(`step ${isoOf(startMs)} ${what}`)
    // the first step begins with the period
    findings.same(whereStep('start_time'), step['start_time'], isoOf(Math.max(startMs, fromMs)))
    findings.same(whereStep('readings'), step['readings'], readings.length)
    findings.same(whereStep('left_out'), step['left_out'], all.length - readings.length)
    checkSummary(step, ofReadings(readings), whereStep, findings)
  }
}

function checkSummary(actual: Json, expected: AreaSummary, where: Where, findings: Findings): void {
  const aqi = fieldsOf(actual['aqi'])
  const measurements = fieldsOf(actual['measurements'])
  const names = { mean: 'avg', min: 'min', max: 'max', median: 'median', p98: 'p98' } as const
  for (const field of fields) {
    const answered = field === 'aqi' ? aqi : fieldsOf(measurements[field])
    const summary = expected.fields[field]
    if (summary === undefined && field !== 'aqi' && !basic.some((one) => one === field)) {
      findings.same(where(field), measurements[field], undefined)
      continue
    }
    for (const what of ['mean', 'min', 'max', 'median', 'p98'] as const) {
      if (field === 'aqi' && what === 'p98') continue
      const name = field === 'aqi' && what === 'mean' ? 'average' : names[what]
      const unit = field === 'aqi' ? { per: 1, decimals: 1 } : { per: 100, decimals: 2 }
      checkRounded(answered[name], summary?.[what], unit, where(`${field} ${name}`), findings)
    }
  }
  const average = aqi['average']
  const category = typeof average === 'number' ? categoryOf(average) : null
  findings.same(where('category'), aqi['category'], category)
  findings.same(where('dominant'), aqi['dominant_pollutant'], dominantOf(expected))
}

type Unit = { readonly per: number; readonly decimals: number }

/**
 * `actual` must be the exact value rounded. Sums of doubles may end a hair to either side of a tie,
 * and nowhere else.
 */
function checkRounded(
  actual: unknown,
  exact: Summary[keyof Summary] | undefined,
  { per, decimals }: Unit,
  where: () => string,
  findings: Findings,
): void {
  if (exact === undefined) return findings.same(where, actual, null)
  const scale = 10 ** decimals
  const scaled = typeof actual === 'number' ? actual * scale : Number.NaN
  const isWhole = Math.abs(scaled - Math.round(scaled)) < 1e-6
  const isNear = Math.abs(scaled - (exact / per) * scale) <= 0.5 + 1e-6
  findings.same(where, isWhole && isNear ? exact / per : actual, exact / per)
}

function checkCoverage(
  answer: Json,
  { fromMs, toMs }: AskedPeriod,
  observed: number,
  sensors: readonly ExpectedSensor[],
  area: string | undefined,
  where: Where,
  findings: Findings,
): void {
  const expected = sensors
    .flatMap(({ cadenceMs, sites }) =>
      sites.map((site, i) => {
        if (area !== undefined && site.area !== area) return 0
        const start = Math.max(fromMs, site.fromMs)
        const end = Math.min(toMs, sites[i + 1]?.fromMs ?? toMs)
        return Math.max(0, Math.floor((end - start) / cadenceMs))
      }),
    )
    .reduce((sum, one) => sum + one, 0)
  const percent = Math.min(100, Math.round((observed / expected) * 1000) / 10)
  findings.same(where('coverage'), answer['coverage'], {
    expected,
    observed,
    percent: expected === 0 ? null : percent,
  })
}

const failing = ['dropped_pm25', 'dropped_pm10', 'pm_saturated', 'pm_stuck']
const hasFailed = (flags: number): boolean =>
  namesOfFlags(flags).some((name) => failing.includes(name))
const withoutFailed = (readings: readonly ExpectedReading[]): readonly ExpectedReading[] =>
  readings.filter(({ flags }) => !hasFailed(flags))

/** Of the sensors' newest readings, those in the period that have not failed: the worst. */
function checkWorst(
  answer: Json,
  { fromMs, toMs }: AskedPeriod,
  sensors: readonly ExpectedSensor[],
  area: string | undefined,
  where: Where,
  findings: Findings,
): void {
  const there = sensors.filter(({ sites }) => area === undefined || sites.at(-1)?.area === area)
  const newest = there.flatMap(({ readings }) => readings.slice(-1))
  const indices = newest
    .filter(({ timeMs, flags }) => timeMs >= fromMs && timeMs < toMs && !hasFailed(flags))
    .map(({ aqi }) => aqi)
    .filter((aqi) => aqi !== null)
  const worst = fieldsOf(answer['worst_sensor'])['aqi'] ?? null
  findings.same(where('worst_sensor'), worst, indices.length === 0 ? null : Math.max(...indices))
  const last = newest.reduce<number>((latest, { timeMs }) => Math.max(latest, timeMs), -Infinity)
  findings.same(where('last_updated'), answer['last_updated'], isoOf(last))
  const total = there.length
  findings.same(where('sensors'), answer['sensors'], { total, online: 0, offline: total })
}
