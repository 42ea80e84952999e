/** A line over time with the index's categories behind it, by uPlot. */
import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colorOf, palette } from './palette.ts'
import { localTime } from './times.ts'
import type { Zone } from './zones.ts'

export type ChartProps = {
  /** For screen readers instead of the picture: what it shows, in a sentence. */
  readonly label: string
  /** Seconds since 1970, ascending. */
  readonly xs: readonly number[]
  /** null leaves a gap. */
  readonly ys: readonly (number | null)[]
  /** Drawn as an area round the line. */
  readonly band?: {
    readonly low: readonly (number | null)[]
    readonly high: readonly (number | null)[]
  }
  readonly unit: string
  readonly zones?: readonly Zone[]
  /** Seconds since 1970: the chart shows all of it, also where there is nothing. */
  readonly from: number
  readonly to: number
  readonly height?: number
  /** Points are shown where no line joins them. */
  readonly isSparse?: boolean
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const { xs, ys, band, from, to } = props
  useEffect(() => {
    const element = box.current
    if (element === null) return
    let undo: (() => void) | undefined
    let isGone = false
    void import('uplot').then(({ default: Plot }) => {
      if (!isGone) undo = draw(new Plot(optionsOf(props, element), dataOf(props), element), element)
    })
    return () => {
      isGone = true
      undo?.()
    }
  }, [xs, ys, band, from, to])
  return (
    <figure class="chart">
      <div
        ref={box}
        role="img"
        aria-label={props.label}
        class={`plot ${(props.height ?? 180) > 170 ? 'tall' : ''}`}
      />
    </figure>
  )
}

/** Keeps it as wide as its place and in the present colours. @returns a function that ends this */
function draw(chart: uPlot, element: HTMLElement): () => void {
  const size = new ResizeObserver(() => {
    if (element.clientWidth > 0 && element.clientWidth !== chart.width)
      chart.setSize({ width: element.clientWidth, height: chart.height })
  })
  size.observe(element)
  const recolored = effect(() => {
    if (palette.value !== undefined) chart.redraw(false, false)
  })
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = (): void => chart.redraw(false, true)
  scheme.addEventListener('change', redraw)
  return () => {
    scheme.removeEventListener('change', redraw)
    recolored()
    size.disconnect()
    chart.destroy()
  }
}

function dataOf({ xs, ys, band }: ChartProps): uPlot.AlignedData {
  const lines = band === undefined ? [ys] : [ys, band.high, band.low]
  return [[...xs], ...lines.map((line) => [...line])]
}

function optionsOf(
  { band, unit, zones = [], from, to, height = 180, isSparse = false }: ChartProps,
  element: HTMLElement,
): uPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string) => (): string => style.getPropertyValue(name).trim()
  const font = '12px system-ui, sans-serif'
  const axis = { stroke: color('--muted'), font, ticks: { show: false } }
  const grid = { stroke: color('--line'), width: 1 }
  const edge = { stroke: 'transparent', points: { show: false } }
  const shown = (_: uPlot, value: number | null): string =>
    value === null || value === undefined ? '–' : `${value} ${unit}`.trim()
  return {
    width: element.clientWidth || 320,
    height,
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { markers: { show: false } },
    scales: {
      x: { time: true, range: () => [from, to] },
      y: { range: (_, low, high) => rangeOf(low, high, zones.length > 0) },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 64, values: hours },
      { ...axis, grid, size: 44, space: 36 },
    ],
    series: [
      { label: 'Time', value: (_, at) => (at === null ? '–' : localTime(at * 1000)) },
      {
        label: band === undefined ? 'Value' : 'Mean',
        stroke: color('--chart-line'),
        width: 2,
        spanGaps: false,
        points: isSparse
          ? { show: true, size: 4, fill: color('--chart-line') }
          : { show: true, size: 3, fill: color('--chart-line'), filter: lonely },
        value: shown,
      },
      ...(band === undefined
        ? []
        : [
            { ...edge, label: 'Highest', value: shown },
            { ...edge, label: 'Lowest', value: shown },
          ]),
    ],
    ...(band === undefined ? {} : { bands: [{ series: [2, 3], fill: color('--chart-band')() }] }),
    hooks: { drawClear: [(chart) => drawZones(chart, zones)] },
  }
}

/** Some space above and below; a scale with categories begins at 0. */
function rangeOf(low: number | null, high: number | null, isFromZero: boolean): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, isFromZero ? 60 : 1]
  const room = Math.max((high - low) * 0.15, Math.abs(high) * 0.02, 0.5)
  return [isFromZero ? 0 : Math.floor(low - room), Math.ceil(high + room)]
}

/** Points without a line would be invisible otherwise. */
const lonely = ({ data }: uPlot, series: number): number[] => {
  const ys = data[series] ?? []
  const isThere = (at: number): boolean => ys[at] !== null && ys[at] !== undefined
  return [...ys.keys()].filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1))
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' })
function hours(_: uPlot, splits: number[]): string[] {
  const isDays = (splits[1] ?? 0) - (splits[0] ?? 0) >= 43_200
  return splits.map((at) => (isDays ? day : clock).format(at * 1000))
}

function drawZones(chart: uPlot, zones: readonly Zone[]): void {
  const { ctx } = chart
  const { left, top, width, height } = chart.bbox
  const { min = 0, max = 0 } = chart.scales['y'] ?? {}
  ctx.save()
  for (const { category, from, to } of zones) {
    if (from > max || to < min) continue
    const high = chart.valToPos(Math.min(to, max), 'y', true)
    const low = chart.valToPos(Math.max(from, min), 'y', true)
    const color = colorOf(category)
    ctx.globalAlpha = 0.16
    ctx.fillStyle = color
    ctx.fillRect(left, high, width, low - high)
    // an edge too, so that neighbours differ by a line, not only by colour
    ctx.globalAlpha = 0.9
    ctx.fillRect(left, Math.max(top, high), 4 * devicePixelRatio, Math.min(height, low - high))
  }
  ctx.restore()
}
