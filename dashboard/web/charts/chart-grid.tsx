/** A plot for each quantity, with one cursor for all. */
import type { Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { zonesOf } from '../parts/time/zones.ts'
import type { Loaded } from './loaded.ts'
import { stepMs } from './period.ts'
import { Plot, type PlotLine } from './plot.tsx'
import { amountOf, guideOf, shownAs, stepText, summaryOf } from './quantity.ts'
import { aligned, extentOf, type Series } from './series.ts'
import { format, words } from './words.ts'

type GridProps = {
  readonly loaded: Loaded
  /** The id or name of what the page is about. */
  readonly title: string
  readonly names: readonly string[]
  readonly cursor: Signal<number | undefined>
  /** The pictures on show, by quantity. */
  readonly pictures: Map<string, HTMLCanvasElement>
}

type Shown = { readonly id: string; readonly place: number; readonly series: Series }

export function ChartGrid({ loaded, title, names, cursor, pictures }: GridProps) {
  const { own, others, zone } = loaded
  const shown = useMemo((): readonly Shown[] => {
    const known = [
      { id: title, place: 0, series: own.series },
      ...others.flatMap(({ asked }, at) =>
        asked === undefined ? [] : [{ id: asked.name, place: at + 1, series: asked.series }],
      ),
    ]
    const series = aligned(known.map((one) => one.series))
    return known.map((one, at) => ({ ...one, series: series[at] ?? one.series }))
  }, [loaded])
  const drawn = names.filter((name) =>
    shown.some(({ series }) => {
      const line = series.lines[name]
      return line !== undefined && extentOf(line) !== undefined
    }),
  )
  return (
    <div class="charts">
      {drawn.map((name) => (
        <Chart key={name} {...{ name, shown, cursor, loaded, zone, pictures }} />
      ))}
    </div>
  )
}

type ChartProps = Pick<GridProps, 'loaded' | 'cursor' | 'pictures'> & {
  readonly name: string
  readonly shown: readonly Shown[]
  readonly zone: string
}

function Chart({ name, shown, cursor, loaded, zone, pictures }: ChartProps) {
  const { long, unit, digits } = shownAs(name)
  const { fromMs, toMs, step } = loaded.own.shown
  const isAlone = shown.length === 1
  const parts = useMemo(() => {
    const [first] = shown
    const line = first?.series.lines[name]
    const lines = shown.flatMap(({ id, place, series }): PlotLine[] => {
      const ys = series.lines[name]?.mean
      return ys === undefined ? [] : [{ name: id, ys, place }]
    })
    return {
      xs: first?.series.xs ?? [],
      starts: first?.series.starts ?? [],
      lines,
      around: isAlone && line !== undefined ? { low: line.min, high: line.max } : undefined,
      bands: zonesOf(name),
      guide: guideOf(name),
      label: shown.flatMap(({ id, series }) => {
        const own = series.lines[name]
        return own === undefined
          ? []
          : [isAlone ? summaryOf(name, own) : `${id}. ${summaryOf(name, own)}`]
      }),
      extent: line === undefined ? undefined : extentOf(line),
    }
  }, [shown, name])
  const saidAt = (at: number) => {
    const start = parts.starts[at] ?? fromMs
    const time = stepText(start, stepMs[step], zone)
    const { around } = parts
    const said = parts.lines.map(({ name: id, ys }) => {
      const value = ys[at]
      const amount = typeof value === 'number' ? amountOf(name, value) : words.none
      return isAlone ? amount : `${id}: ${amount}`
    })
    const brief = said.join('\n')
    const [low, high] = [around?.low[at], around?.high[at]]
    const isRange = typeof low === 'number' && typeof high === 'number' && low !== high
    const range = isRange
      ? ` (${words.range(format.number(low, digits), format.number(high, digits))})`
      : ''
    return { time, values: brief + range, brief }
  }
  return (
    <figure class="chart">
      <figcaption class="chart-head">
        <h3>
          {long} {unit !== '' && <span class="hint">{unit}</span>}
        </h3>
        {parts.extent !== undefined && isAlone && (
          <span class="hint number">
            {words.extent(
              format.number(parts.extent.mean, digits),
              format.number(parts.extent.low, digits),
              format.number(parts.extent.high, digits),
            )}
          </span>
        )}
      </figcaption>
      <Plot
        {...parts}
        label={`${parts.label.join(' ')} ${words.use}`}
        fromMs={fromMs}
        toMs={toMs}
        zone={zone}
        isTall={name === 'aqi'}
        cursor={cursor}
        saidAt={saidAt}
        onDrawn={(canvas) => {
          if (canvas === undefined) pictures.delete(name)
          else pictures.set(name, canvas)
        }}
      />
    </figure>
  )
}
