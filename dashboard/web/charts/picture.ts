/** The charts on show as one picture, with what they are of and where they come from. */
import { getJson } from '../data.ts'
import { zoneName } from '../parts/time/time-zone.ts'
import { shownAs } from './quantity.ts'
import { words } from './words.ts'

type Picture = {
  /** The first is the page's own; the others are compared with it. */
  readonly heading: readonly string[]
  readonly span: string
  readonly zone: string
  readonly drawn: readonly { readonly name: string; readonly canvas: HTMLCanvasElement }[]
  readonly fileName: string
}

type Network = {
  readonly name: string
  readonly licence: string | null
  readonly attribution: string
}

const margin = 24
const titleHeight = 24

export async function savePicture(picture: Picture): Promise<void> {
  const network = await getJson<Network>('/.well-known/airproof.json')
  const canvas = composed(picture, sourceOf(network))
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (blob === null) throw new Error('The browser could not make the picture.')
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = `${picture.fileName}.png`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const sourceOf = ({ attribution, licence }: Network): readonly string[] => [
  words.download.source(attribution, location.origin + location.pathname),
  licence === null ? words.download.noLicence : words.download.licence(licence),
]

function composed({ heading, span, zone, drawn }: Picture, source: readonly string[]) {
  const ratio = devicePixelRatio
  const style = getComputedStyle(document.body)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const width = Math.max(360, ...drawn.map(({ canvas }) => canvas.width / ratio))
  const legend = heading.length > 1 ? heading : []
  const top = margin + 52 + legend.length * 18
  const height =
    top +
    drawn.reduce((sum, { canvas }) => sum + titleHeight + canvas.height / ratio + 12, 0) +
    source.length * 18 +
    margin
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * margin) * ratio
  canvas.height = height * ratio
  const ctx = canvas.getContext('2d')
  if (ctx === null) throw new Error('The browser could not make the picture.')
  ctx.scale(ratio, ratio)
  ctx.fillStyle = color('--surface') || '#ffffff'
  ctx.fillRect(0, 0, canvas.width, canvas.height)
  const write = (text: string, y: number, size: number, ink: string, weight = 400): void => {
    ctx.font = `${weight} ${size}px ${style.fontFamily}`
    ctx.fillStyle = color(ink) || '#000000'
    ctx.fillText(text, margin, y, width)
  }
  write(heading[0] ?? '', margin + 18, 20, '--text', 600)
  write(`${span} · ${words.zone.times(zoneName(zone, Date.now()))}`, margin + 40, 13, '--muted')
  for (const [place, id] of legend.entries())
    drawLegend(ctx, { id, place, y: margin + 60 + place * 18, color })
  let y = top
  for (const { name, canvas: chart } of drawn) {
    const { long, unit } = shownAs(name)
    write(`${long}${unit === '' ? '' : `, ${unit}`}`, y + 16, 14, '--text', 600)
    y += titleHeight
    ctx.drawImage(chart, margin, y, chart.width / ratio, chart.height / ratio)
    y += chart.height / ratio + 12
  }
  for (const [at, line] of source.entries()) write(line, y + 14 + at * 18, 12, '--muted')
  return canvas
}

type Legend = {
  readonly id: string
  readonly place: number
  readonly y: number
  readonly color: (name: string) => string
}

function drawLegend(ctx: CanvasRenderingContext2D, { id, place, y, color }: Legend): void {
  const history = document.querySelector('.history')
  const style = history === null ? undefined : getComputedStyle(history)
  ctx.strokeStyle = style?.getPropertyValue(`--chart-line-${place}`).trim() ?? '#000000'
  ctx.lineWidth = 2
  ctx.beginPath()
  ctx.moveTo(margin, y)
  ctx.lineTo(margin + 28, y)
  ctx.stroke()
  ctx.fillStyle = color('--text')
  ctx.fillText(id, margin + 36, y + 4)
}
