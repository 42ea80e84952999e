/** What is behind the lines of a plot: bands with their names, where days begin, a guideline. */
import type uPlot from 'uplot'
import { colorOf } from '../parts/air/palette.ts'
import type { Zone as Band } from '../parts/time/zones.ts'
import { words } from './words.ts'

/** A level that the values are read against. */
export type Guide = { readonly value: number; readonly text: string }

export type Ground = {
  readonly bands: readonly Band[]
  readonly guide: Guide | undefined
  readonly lines: readonly number[]
  readonly font: string
  /** Of the page's own, by name. */
  readonly color: (name: string) => () => string
}

/** Names that are read above the lines, on a rim of the surface's colour. */
export function drawNames(chart: uPlot, { bands, guide, font, color }: Ground): void {
  const { ctx } = chart
  const ratio = devicePixelRatio
  const { left, top, width, height } = chart.bbox
  const { min = 0, max = 0 } = chart.scales['y'] ?? {}
  ctx.save()
  ctx.font = `${11 * ratio}px ${font}`
  ctx.lineWidth = 3 * ratio
  ctx.lineJoin = 'round'
  ctx.strokeStyle = color('--surface')()
  const write = (text: string, x: number, y: number, ink: string): void => {
    ctx.strokeText(text, x, y)
    ctx.fillStyle = color(ink)()
    ctx.fillText(text, x, y)
  }
  ctx.textAlign = 'right'
  ctx.textBaseline = 'top'
  for (const { category, from, to } of bands) {
    if (from > max || to < min) continue
    const high = Math.max(top, chart.valToPos(Math.min(to, max), 'y', true))
    const low = Math.min(top + height, chart.valToPos(Math.max(from, min), 'y', true))
    if (low - high >= 16 * ratio)
      write(words.bands[category], left + width - 4 * ratio, high + 3 * ratio, '--text')
  }
  if (guide !== undefined && guide.value <= max) {
    ctx.textAlign = 'left'
    ctx.textBaseline = 'bottom'
    const y = chart.valToPos(guide.value, 'y', true)
    write(guide.text, left + 10 * ratio, y - 3 * ratio, '--chart-guide')
  }
  ctx.restore()
}

export function drawGround(chart: uPlot, ground: Ground): void {
  const { ctx } = chart
  ctx.save()
  drawBands(chart, ground)
  drawDays(chart, ground)
  drawGuide(chart, ground)
  ctx.restore()
}

function drawBands(chart: uPlot, { bands, color }: Ground): void {
  const { ctx } = chart
  const ratio = devicePixelRatio
  const { left, top, width, height } = chart.bbox
  const { min = 0, max = 0 } = chart.scales['y'] ?? {}
  const soft = Number(color('--chart-band-strength')()) || 0.16
  for (const { category, from, to } of bands) {
    if (from > max || to < min) continue
    const high = Math.max(top, chart.valToPos(Math.min(to, max), 'y', true))
    const low = Math.min(top + height, chart.valToPos(Math.max(from, min), 'y', true))
    ctx.fillStyle = colorOf(category)
    ctx.globalAlpha = soft
    ctx.fillRect(left, high, width, low - high)
    // an edge too, and later a name, so that neighbours differ by more than a colour
    ctx.globalAlpha = 1
    ctx.fillRect(left, high, 4 * ratio, low - high)
    ctx.fillStyle = color('--line')()
    if (high > top) ctx.fillRect(left, high, width, ratio)
  }
  ctx.globalAlpha = 1
}

function drawDays(chart: uPlot, { lines, color }: Ground): void {
  const { ctx } = chart
  const { top, height } = chart.bbox
  ctx.fillStyle = color('--line')()
  for (const timeMs of lines)
    ctx.fillRect(Math.round(chart.valToPos(timeMs, 'x', true)), top, devicePixelRatio, height)
}

function drawGuide(chart: uPlot, { guide, color }: Ground): void {
  const { max = 0 } = chart.scales['y'] ?? {}
  if (guide === undefined || guide.value > max) return
  const { ctx } = chart
  const ratio = devicePixelRatio
  const { left, width } = chart.bbox
  const y = Math.round(chart.valToPos(guide.value, 'y', true))
  ctx.strokeStyle = color('--chart-guide')()
  ctx.lineWidth = 1.5 * ratio
  ctx.setLineDash([6 * ratio, 4 * ratio])
  ctx.beginPath()
  ctx.moveTo(left, y)
  ctx.lineTo(left + width, y)
  ctx.stroke()
  ctx.setLineDash([])
}
