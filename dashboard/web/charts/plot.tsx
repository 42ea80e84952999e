/** Lines over time with labelled bands behind them, by uPlot; one cursor for all plots of a group. */
import { effect, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { palette } from '../parts/air/palette.ts'
import { oneByOne } from '../parts/one-by-one.ts'
import type { Zone as Band } from '../parts/time/zones.ts'
import { drawGround, drawNames, type Ground, type Guide } from './plot-ground.ts'
import type { Values } from './series.ts'
import { timeAxis } from './time-axis.ts'
import { format } from './words.ts'

export type PlotLine = {
  readonly name: string
  readonly ys: Values
  /** Its place among lines that are compared: 0 is the page's own. */
  readonly place: number
}

type Said = {
  readonly time: string
  /** In full, with the range of the readings. */
  readonly values: string
  /** Beside the cursor that another plot of the group moves. */
  readonly brief: string
}

export type PlotProps = {
  /** For screen readers instead of the picture: what it shows, in a sentence. */
  readonly label: string
  /** Milliseconds since 1970, ascending. */
  readonly xs: readonly number[]
  readonly lines: readonly PlotLine[]
  /** Drawn as an area round the first line. */
  readonly around?: { readonly low: Values; readonly high: Values } | undefined
  readonly bands?: readonly Band[]
  readonly guide?: Guide | undefined
  /** The plot shows all of it, also where there is nothing. */
  readonly fromMs: number
  readonly toMs: number
  readonly zone: string
  readonly isTall?: boolean
  /** Which of `xs` is looked at, in all plots of the group. */
  readonly cursor: Signal<number | undefined>
  /** What is there: shown beside the cursor, and said by a screen reader. */
  readonly saidAt: (at: number) => Said
  /** Called with the picture, to be put into a file. */
  readonly onDrawn?: (canvas: HTMLCanvasElement | undefined) => void
}

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const { xs, lines, around, fromMs, toMs, zone, cursor, saidAt, label, isTall = false } = props
  useEffect(() => {
    const element = box.current
    if (element === null) return
    let undo: (() => void) | undefined
    let isGone = false
    void import('uplot').then(({ default: Uplot }) =>
      oneByOne(() => {
        if (!isGone)
          undo = draw(new Uplot(optionsOf(props, element), dataOf(props), element), props, element)
      }),
    )
    return () => {
      isGone = true
      undo?.()
      props.onDrawn?.(undefined)
    }
  }, [xs, lines, around, fromMs, toMs, zone])
  const last = Math.max(0, xs.length - 1)
  const at = Math.min(cursor.value ?? last, last)
  const { time, values } = saidAt(at)
  return (
    <div
      ref={box}
      // its values are moved through as a slider's are; the picture itself says nothing
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={`${time}: ${values}`}
      class={`plot ${isTall ? 'tall' : ''}`}
      onKeyDown={(event) => {
        const next = placeAfter(event.key, at, last)
        if (next === undefined) return
        event.preventDefault()
        cursor.value = event.key === 'Escape' ? undefined : next
      }}
      onBlur={() => {
        cursor.value = undefined
      }}
    />
  )
}

/** @returns undefined for a key that is not ours */
function placeAfter(key: string, at: number, last: number): number | undefined {
  const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 12, PageDown: -12 }
  if (key === 'Home') return 0
  if (key === 'End' || key === 'Escape') return last
  const move = new Map(Object.entries(by)).get(key)
  return move === undefined ? undefined : Math.min(last, Math.max(0, at + move))
}

/** Keeps it as wide as its place, in the present colours, and its cursor where the group's is. */
function draw(chart: uPlot, props: PlotProps, element: HTMLElement): () => void {
  const { cursor, xs, saidAt } = props
  const size = new ResizeObserver(() => {
    if (element.clientWidth > 0 && element.clientWidth !== chart.width)
      chart.setSize({ width: element.clientWidth, height: chart.height })
  })
  size.observe(element)
  const recolored = effect(() => {
    if (palette.value !== undefined) chart.redraw(false, false)
  })
  const tip = document.createElement('div')
  tip.className = 'chart-tip'
  tip.hidden = true
  chart.over.append(tip)
  const followed = effect(() => {
    const at = cursor.value
    const x = at === undefined ? undefined : xs[at]
    tip.hidden = at === undefined || x === undefined
    if (at === undefined || x === undefined) return chart.setCursor({ left: -10, top: -10 }, false)
    const left = chart.valToPos(x, 'x')
    chart.setCursor({ left, top: 0 }, false)
    const said = saidAt(at)
    const isOwn = element.matches(':hover, :focus')
    tip.replaceChildren(
      ...(isOwn ? [lineOf('chart-tip-time', said.time)] : []),
      lineOf('chart-tip-values', isOwn ? said.values : said.brief),
    )
    const isRight = left > chart.over.clientWidth / 2
    tip.style.left = isRight ? '' : `${left + 8}px`
    tip.style.right = isRight ? `${chart.over.clientWidth - left + 8}px` : ''
  })
  // a finger that moves sideways moves the cursor; one that moves up or down moves the page
  const touched = (event: PointerEvent): void => {
    if (event.pointerType === 'mouse') return
    const { left } = chart.over.getBoundingClientRect()
    chart.setCursor({ left: event.clientX - left, top: 0 })
  }
  chart.over.addEventListener('pointermove', touched)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = (): void => chart.redraw(false, true)
  scheme.addEventListener('change', redraw)
  void document.fonts.ready.then(redraw)
  props.onDrawn?.(chart.ctx.canvas)
  return () => {
    scheme.removeEventListener('change', redraw)
    followed()
    recolored()
    size.disconnect()
    chart.destroy()
  }
}

function lineOf(name: string, text: string): HTMLElement {
  const line = document.createElement('div')
  line.className = name
  line.textContent = text
  return line
}

/** The band is first, so that the lines are above it. */
function dataOf({ xs, lines, around }: PlotProps): uPlot.AlignedData {
  const edges = around === undefined ? [] : [around.high, around.low]
  return [[...xs], ...[...edges, ...lines.map(({ ys }) => ys)].map((ys) => [...ys])]
}

const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]] as const

function optionsOf(props: PlotProps, element: HTMLElement): uPlot.Options {
  const { lines, around, bands = [], guide, fromMs, toMs, zone, cursor, isTall = false } = props
  const style = getComputedStyle(element)
  const color = (name: string) => (): string => style.getPropertyValue(name).trim()
  const font = `12px ${style.fontFamily}`
  const axis = { stroke: color('--muted'), font, ticks: { show: false } }
  const edge = { stroke: 'transparent', points: { show: false } }
  const axisOf = ({ bbox }: uPlot) =>
    timeAxis({ fromMs, toMs, zone, width: bbox.width / devicePixelRatio, locale: format.locale })
  const groundOf = (chart: uPlot): Ground => ({
    bands,
    guide,
    lines: axisOf(chart).lines,
    font: style.fontFamily,
    color,
  })
  const isFew = lines.every(({ ys }) => ys.filter((y) => typeof y === 'number').length <= 48)
  return {
    width: element.clientWidth || 320,
    height: isTall ? 240 : 170,
    padding: [8, 12, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [fromMs, toMs] },
      y: { range: (_, low, high) => rangeOf(low, high, bands.length > 0, guide?.value) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        splits: (chart) => axisOf(chart).labels.map(({ timeMs }) => timeMs),
        values: (chart) => axisOf(chart).labels.map(({ text }) => text),
      },
      {
        ...axis,
        grid: { stroke: color('--line'), width: 1 },
        size: 46,
        space: 32,
        values: (_, splits) => splits.map((value) => format.number(value, 2)),
      },
    ],
    series: [
      {},
      ...(around === undefined ? [] : [edge, edge]),
      ...lines.map(({ place }) => ({
        stroke: color(`--chart-line-${place}`),
        width: 2,
        dash: [...(dashes[place] ?? [])],
        spanGaps: false,
        points: {
          show: true,
          size: 4,
          fill: color(`--chart-line-${place}`),
          ...(isFew ? {} : { filter: lonely }),
        },
      })),
    ],
    bands: around === undefined ? [] : [{ series: [1, 2], fill: color('--chart-band') }],
    hooks: {
      drawClear: [(chart) => drawGround(chart, groundOf(chart))],
      draw: [(chart) => drawNames(chart, groundOf(chart))],
      setCursor: [
        (chart) => {
          cursor.value = chart.cursor.idx ?? undefined
        },
      ],
    },
  }
}

/** Some space above and below; a scale with bands begins at 0. The guide is in it if it is near. */
function rangeOf(
  low: number | null,
  high: number | null,
  isFromZero: boolean,
  guide = 0,
): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, isFromZero ? 60 : 1]
  const top = isFromZero ? Math.max(high, Math.min(guide * 1.1, high * 3)) : high
  const room = Math.max((top - low) * 0.12, Math.abs(top) * 0.02, 0.5)
  return [isFromZero ? 0 : Math.floor(low - room), Math.ceil(top + room)]
}

/** Points without a line would be invisible otherwise. */
const lonely = ({ data }: uPlot, series: number): number[] => {
  const ys = data[series] ?? []
  const isJoined = (at: number, by: 1 | -1): boolean => {
    let next = at + by
    while (next >= 0 && next < ys.length && ys[next] === undefined) next += by
    return typeof ys[next] === 'number'
  }
  return [...ys.keys()].filter(
    (at) => typeof ys[at] === 'number' && !isJoined(at, 1) && !isJoined(at, -1),
  )
}
