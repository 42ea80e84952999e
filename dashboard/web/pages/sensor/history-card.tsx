import { useMemo, useState } from 'preact/hooks'
import { quantityNames, units } from '../../../../core/air/quantities.ts'
import { Chart } from '../../parts/chart.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { zonesOf } from '../../parts/zones.ts'
import { heardIn, thinned, withGaps } from './gaps.ts'
import { getHistory, type Reading } from './sensor-data.ts'
import { longWords } from './words.ts'

const hourMs = 3_600_000
const spans = { '24 hours': 24 * hourMs, '7 days': 7 * 24 * hourMs } as const
type Span = keyof typeof spans
const spanNames: readonly Span[] = ['24 hours', '7 days']

type HistoryProps = {
  readonly id: string
  readonly intervalMs: number
  /** When it was commissioned. */
  readonly sinceMs: number
}

/** Charts of every measurement, and when the sensor sent readings. */
export function HistoryCard({ id, intervalMs, sinceMs }: HistoryProps) {
  const [span, setSpan] = useState<Span>('24 hours')
  const answer = useAnswer(
    async (signal) => {
      const toMs = Date.now()
      const fromMs = toMs - spans[span]
      return { ...(await getHistory({ id, fromMs, signal })), fromMs, toMs }
    },
    [id, span],
  )
  useEvery(120_000, answer.again)
  const { value: history, error, again, isAsking } = answer
  return (
    <section class="card" aria-labelledby="history">
      <div class="row between">
        <h2 id="history">The last {span}</h2>
        <div class="row" role="group" aria-label="How far back">
          {spanNames.map((name) => (
            <button
              key={name}
              type="button"
              class={name === span ? '' : 'quiet'}
              aria-pressed={name === span}
              onClick={() => setSpan(name)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      {error !== undefined && <Failed error={error} retry={again} />}
      {history === undefined && isAsking && <Loading what="Asking for the readings…" />}
      {history !== undefined && history.readings.length === 0 && (
        <Empty title={`No readings in the last ${span}`}>
          <p>Charts appear with the first reading.</p>
        </Empty>
      )}
      {history !== undefined && history.readings.length > 0 && (
        <Charts {...history} intervalMs={intervalMs} sinceMs={sinceMs} />
      )}
    </section>
  )
}

type ChartsProps = {
  readonly readings: readonly Reading[]
  readonly isCut: boolean
  readonly fromMs: number
  readonly toMs: number
  readonly intervalMs: number
  readonly sinceMs: number
}

const names = ['aqi', ...quantityNames] as const

function Charts({ readings, isCut, fromMs, toMs, intervalMs, sinceMs }: ChartsProps) {
  const lines = useMemo(() => {
    const most = 800
    const stepMs = readings.length > most ? (toMs - fromMs) / most : 0
    const shown = names.filter((name) => readings.some((reading) => reading[name] !== undefined))
    return shown.map((name) => {
      const points = readings.map((reading) => ({
        timeMs: Date.parse(reading.timestamp),
        value: reading[name] ?? null,
      }))
      const line = withGaps(thinned(points, { fromMs, toMs, most }), Math.max(intervalMs, stepMs))
      return { name, line, range: saidOf(points) }
    })
  }, [readings])
  return (
    <>
      <Uptime {...{ readings, fromMs, toMs, intervalMs, sinceMs }} />
      {isCut && <p class="hint">This sensor sends so often that only the newest part is drawn.</p>}
      <div class="charts">
        {lines.map(({ name, line, range }) => {
          const words = name === 'aqi' ? 'Air quality index' : longWords[name]
          const unit = name === 'aqi' ? '' : units[name]
          return (
            <div key={name}>
              <h3>
                {words} {unit !== '' && <span class="hint">{unit}</span>}
              </h3>
              {range === undefined ? (
                <p class="muted">Not measured in this time.</p>
              ) : (
                <Chart
                  label={`${words} over time, from ${range.low} to ${range.high} ${unit}.`}
                  {...line}
                  unit={unit}
                  zones={zonesOf(name)}
                  from={fromMs / 1000}
                  to={toMs / 1000}
                  height={name === 'aqi' ? 190 : 150}
                />
              )}
            </div>
          )
        })}
      </div>
    </>
  )
}

function saidOf(points: readonly { readonly value: number | null }[]) {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const { value } of points) {
    if (value === null) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return low <= high ? { low, high } : undefined
}

type UptimeProps = Omit<ChartsProps, 'isCut'>

/** When it sent readings: a bar of equal parts, also in words. */
function Uptime({ readings, fromMs, toMs, intervalMs, sinceMs }: UptimeProps) {
  const partMs = Math.max(15 * 60_000, intervalMs * 1.5, (toMs - fromMs) / 168)
  const count = Math.ceil((toMs - fromMs) / partMs)
  const times = readings.map(({ timestamp }) => Date.parse(timestamp))
  const heard = heardIn(times, { fromMs, toMs, count })
  // the time before its first site does not count as silence
  const first = Math.min(count - 1, Math.max(0, Math.floor((sinceMs - fromMs) / partMs)))
  const owed = count - first
  const present = heard.slice(first).filter(Boolean).length
  return (
    <div class="uptime">
      <svg
        viewBox={`0 0 ${count} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Heard in ${present} of ${owed} equal parts of this time.`}
      >
        {heard.map((isHeard, at) => (
          <rect
            // a part has no other name than its place
            key={`${at}`}
            class={isHeard ? 'heard' : at < first ? 'before' : 'silent'}
            x={at}
            y={isHeard ? 0 : 7}
            width="0.86"
            height={isHeard ? 10 : 3}
          />
        ))}
      </svg>
      <p class="hint">
        Heard in {present} of {owed} parts of this time{first > 0 && ' since it was commissioned'};
        low marks are silences.
      </p>
    </div>
  )
}
