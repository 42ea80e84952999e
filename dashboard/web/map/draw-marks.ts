/** Marks on a canvas: a pill with the number, a ring of shares where several are one mark. */
import { inkOn, ringOf } from '../parts/air/ink.ts'
import { binOf, type Scale } from '../parts/air/scales.ts'

/** The colours of the present scheme, `#rrggbb`. */
export type Looks = {
  readonly land: string
  readonly water: string
  readonly surface: string
  readonly text: string
  readonly muted: string
  readonly accent: string
  readonly font: string
}

/** What a mark says. */
export type Said =
  | { readonly kind: 'offline' }
  /** `value` null: online, but without one. */
  | { readonly kind: 'one'; readonly value: number | null }
  | {
      readonly kind: 'many'
      readonly count: number
      /** The mean of those that have a value. */
      readonly value: number | null
      /** How many are in each bin of the scale; the last number: those without a value. */
      readonly shares: readonly number[]
    }

export type Drawn = { readonly width: number; readonly height: number }

export type Brush = {
  readonly ctx: CanvasRenderingContext2D
  readonly looks: Looks
  readonly scale: Scale
  readonly textOf: (value: number) => string
}

type Place = { readonly x: number; readonly y: number; readonly isPointed: boolean }

const pill = { height: 24, side: 8, text: 13 }
const circle = { radius: 21, band: 6 }
const dot = 4

/** Draws it with its middle at the place. @returns its size, for pointers */
export function drawMark(brush: Brush, said: Said, place: Place): Drawn {
  switch (said.kind) {
    case 'offline':
      return drawDot(brush, place)
    case 'one':
      return drawPill(brush, said.value, place)
    case 'many':
      return drawMany(brush, said, place)
  }
}

const colorsOf = ({ scale, looks }: Brush, value: number | null) => {
  const fill = scale.bins[binOf(scale, value)]?.color ?? looks.surface
  return { fill, ink: inkOn(fill), ring: ringCached(fill, looks) }
}

const rings = new Map<string, string>()
/** It is asked for each mark of each frame. */
function ringCached(fill: string, { land, water }: Looks): string {
  const key = fill + land + water
  const known = rings.get(key) ?? ringOf(fill, [land, water])
  rings.set(key, known)
  return known
}

function drawDot({ ctx, looks }: Brush, { x, y, isPointed }: Place): Drawn {
  ctx.beginPath()
  ctx.arc(x, y, isPointed ? dot + 2 : dot, 0, Math.PI * 2)
  ctx.fillStyle = looks.surface
  ctx.fill()
  ctx.lineWidth = 2
  ctx.strokeStyle = isPointed ? looks.accent : looks.muted
  ctx.stroke()
  return { width: dot * 4, height: dot * 4 }
}

function drawPill(brush: Brush, value: number | null, { x, y, isPointed }: Place): Drawn {
  const { ctx, looks, textOf } = brush
  const text = value === null ? '–' : textOf(value)
  const { fill, ink, ring } = colorsOf(brush, value)
  ctx.font = `650 ${pill.text}px ${looks.font}`
  const width = Math.max(pill.height + 6, ctx.measureText(text).width + pill.side * 2)
  const box = [x - width / 2, y - pill.height / 2, width, pill.height] as const
  if (isPointed) {
    ctx.beginPath()
    ctx.roundRect(box[0] - 4, box[1] - 4, width + 8, pill.height + 8, pill.height)
    ctx.fillStyle = looks.accent
    ctx.fill()
  }
  ctx.beginPath()
  ctx.roundRect(...box, pill.height / 2)
  ctx.fillStyle = fill
  ctx.fill()
  ctx.lineWidth = 2
  ctx.strokeStyle = ring
  ctx.stroke()
  write(brush, text, { x, y: y + 0.5, color: ink })
  return { width: width + 4, height: pill.height + 4 }
}

function drawMany(
  brush: Brush,
  { count, value, shares }: Extract<Said, { kind: 'many' }>,
  { x, y, isPointed }: Place,
): Drawn {
  const { ctx, looks, scale, textOf } = brush
  const { radius, band } = circle
  ctx.beginPath()
  ctx.arc(x, y, radius + (isPointed ? 5 : 2), 0, Math.PI * 2)
  ctx.fillStyle = isPointed ? looks.accent : looks.muted
  ctx.fill()
  let from = -Math.PI / 2
  for (const [bin, many] of shares.entries()) {
    if (many === 0) continue
    const to = from + (many / count) * Math.PI * 2
    ctx.beginPath()
    ctx.moveTo(x, y)
    ctx.arc(x, y, radius, from, to)
    ctx.closePath()
    ctx.fillStyle = scale.bins[bin]?.color ?? looks.muted
    ctx.fill()
    from = to
  }
  ctx.beginPath()
  ctx.arc(x, y, radius - band, 0, Math.PI * 2)
  ctx.fillStyle = looks.surface
  ctx.fill()
  ctx.font = `650 ${pill.text}px ${looks.font}`
  write(brush, value === null ? '–' : textOf(value), { x, y: y - 5, color: looks.text })
  ctx.font = `500 12px ${looks.font}`
  write(brush, `×${count < 1000 ? count : `${Math.floor(count / 1000)}k`}`, {
    x,
    y: y + 8,
    color: looks.muted,
  })
  return { width: radius * 2 + 4, height: radius * 2 + 4 }
}

function write(
  { ctx }: Brush,
  text: string,
  { x, y, color }: { readonly x: number; readonly y: number; readonly color: string },
): void {
  ctx.fillStyle = color
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  ctx.fillText(text, x, y)
}
