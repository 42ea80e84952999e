/** A sensor on the map's canvas: the category's shape in its colour, the index in it when near. */
import { Canvas, CircleMarker, type CircleMarkerOptions, type LatLngExpression } from 'leaflet'
import type { UsCategory } from '../../../../core/air/index/us-bands.ts'
import { categoryAt, categoryShapes } from '../../parts/categories.ts'
import { inkOn } from '../../parts/ink.ts'
import { colorOf } from '../../parts/palette.ts'
import type { CitySensor } from './city-sensor.ts'

const paths = new Map<UsCategory, Path2D>()
function pathOf(category: UsCategory): Path2D {
  const path = paths.get(category) ?? new Path2D(categoryShapes[category])
  paths.set(category, path)
  return path
}

export type MarkLooks = { readonly line: string; readonly muted: string; readonly surface: string }

/** Leaflet's own fields of a marker on a canvas, which its types leave out. */
type OnCanvas = {
  readonly _renderer: { readonly _ctx: CanvasRenderingContext2D; readonly _drawing: boolean }
  readonly _point: { readonly x: number; readonly y: number }
  _radius: number
  _empty: () => boolean
}

export class SensorMark extends CircleMarker {
  sensor: CitySensor
  readonly #looks: () => MarkLooks
  constructor(
    at: LatLngExpression,
    options: CircleMarkerOptions,
    { sensor, looks }: { readonly sensor: CitySensor; readonly looks: () => MarkLooks },
  ) {
    super(at, options)
    this.sensor = sensor
    this.#looks = looks
  }

  /** Leaflet calls this for a path whenever its canvas is drawn. */
  _updatePath(): void {
    // Leaflet sets these fields on every drawn path
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { _renderer: renderer, _point: point, _empty: empty } = this as unknown as OnCanvas
    if (!renderer._drawing || empty.call(this)) return
    draw(renderer._ctx, point, { mark: this, looks: this.#looks() })
  }
}

type Drawing = { readonly mark: SensorMark; readonly looks: MarkLooks }

function draw(
  ctx: CanvasRenderingContext2D,
  { x, y }: { readonly x: number; readonly y: number },
  { mark, looks }: Drawing,
): void {
  const { sensor } = mark
  const radius = mark.getRadius()
  const category = sensor.isOnline ? categoryAt(sensor.aqi) : null
  if (category === null) {
    ctx.beginPath()
    ctx.arc(x, y, radius * 0.6, 0, Math.PI * 2)
    ctx.fillStyle = looks.surface
    ctx.fill()
    ctx.strokeStyle = looks.muted
    ctx.lineWidth = 1.5
    ctx.setLineDash([3, 2])
    ctx.stroke()
    ctx.setLineDash([])
    return
  }
  const scale = (radius * 2) / 16
  const color = colorOf(category)
  ctx.save()
  ctx.translate(x - radius, y - radius)
  ctx.scale(scale, scale)
  const path = pathOf(category)
  ctx.fillStyle = color
  ctx.fill(path)
  ctx.strokeStyle = looks.line
  ctx.lineWidth = 1 / scale
  ctx.stroke(path)
  ctx.restore()
  if (radius < 12) return
  ctx.fillStyle = inkOn(color)
  // a triangle has its space below the middle, and less of it
  const isTriangle = category === 'unhealthy_sensitive'
  ctx.font = `700 ${Math.round(radius * (isTriangle ? 0.6 : 0.72))}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  ctx.fillText(String(sensor.aqi), x, y + (isTriangle ? radius * 0.42 : 0.5))
}

/** A canvas of its own, so that changes each second do not redraw the ground. */
export const markCanvas = (pane: string): Canvas => new Canvas({ pane, padding: 0.2, tolerance: 4 })
