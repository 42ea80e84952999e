/** All marks on one canvas. It draws what is in view, and knows which mark is at a point. */
import { Bounds, DomUtil, LatLng, type Map as LeafletMap, Point, Renderer } from 'leaflet'
import { type Item, type MapSensor, openClusters } from './clusters.ts'
import { type Brush, drawMark, type Looks, type Said } from './draw-marks.ts'
import { heightOf, openTally, type Tally, type View } from './tally.ts'

export type Hit<T> = { readonly item: Item<T>; readonly said: Said; readonly at: Point }

/** Leaflet's own fields of a renderer, which its types leave out. */
type Inner = {
  _map: LeafletMap
  _container: HTMLCanvasElement
  _bounds: Bounds
}

type Looking<T> = View<T> & {
  readonly looks: Looks
  readonly textOf: (value: number) => string
}

export type AreaName = { readonly name: string; readonly lat: number; readonly lon: number }

type Placed<T> = Hit<T> & { readonly width: number; readonly height: number }

export class MarkLayer<T extends MapSensor & { readonly isOnline: boolean }> extends Renderer {
  readonly #clusters = openClusters<T>()
  #looking: Looking<T>
  #tally: Tally<T>
  #placed: Placed<T>[] = []
  #pointed: string | undefined
  #names: readonly AreaName[] = []
  constructor(looking: Looking<T>) {
    super({ pane: 'marks', padding: 0.25 })
    this.#looking = looking
    this.#tally = openTally(looking)
  }

  /** After sensors came, went or moved. */
  load(sensors: readonly T[]): void {
    this.#clusters.load(sensors)
    this.look(this.#looking)
  }

  /** After news of some of them. */
  change(sensors: readonly T[]): void {
    this.#clusters.change(sensors)
    this.look(this.#looking)
  }

  /** After values, colours or the quantity changed. */
  look(looking: Looking<T>): void {
    this.#looking = looking
    this.#tally = openTally(looking)
    this.draw()
  }

  point(id: string | undefined): void {
    if (this.#pointed === id) return
    this.#pointed = id
    this.draw()
  }

  /** Names of areas, where the ground has none. */
  name(areas: readonly AreaName[]): void {
    this.#names = areas
    this.draw()
  }

  /** The uppermost mark there. @param at pixels in the map's element */
  hit(at: Point): Hit<T> | undefined {
    const { _map: map } = this.#inner
    if (map === undefined) return undefined
    const point = map.containerPointToLayerPoint(at)
    return this.#placed.findLast(
      ({ at: middle, width, height }) =>
        Math.abs(point.x - middle.x) <= Math.max(width / 2, 12) &&
        Math.abs(point.y - middle.y) <= Math.max(height / 2, 12),
    )
  }

  zoomOf(cluster: number): number {
    return this.#clusters.zoomOf(cluster)
  }

  get #inner(): Inner {
    // Leaflet sets these when the layer is added to a map
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return this as unknown as Inner
  }

  /** Leaflet calls these three. */
  _initContainer(): void {
    this.#inner._container = document.createElement('canvas')
  }
  _destroyContainer(): void {
    this.#inner._container.remove()
  }
  _update(): void {
    const { _map: map } = this.#inner
    // during a zoom's animation the canvas is moved as it is
    if ('_animatingZoom' in map && map._animatingZoom === true)
      return // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    ;(Renderer.prototype as unknown as { _update: () => void })._update.call(this)
    const { _bounds: bounds, _container: canvas } = this.#inner
    const size = bounds.getSize()
    const ratio = devicePixelRatio
    DomUtil.setPosition(canvas, bounds.min ?? new Point(0, 0))
    canvas.width = Math.round(size.x * ratio)
    canvas.height = Math.round(size.y * ratio)
    canvas.style.width = `${size.x}px`
    canvas.style.height = `${size.y}px`
    this.draw()
  }

  draw(): void {
    const { _map: map, _container: canvas, _bounds: bounds } = this.#inner
    if (map === undefined || bounds?.min === undefined) return
    const ctx = canvas.getContext('2d')
    if (ctx === null) return
    const { min } = bounds
    const ratio = devicePixelRatio
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0)
    ctx.clearRect(0, 0, canvas.width, canvas.height)
    ctx.translate(-min.x, -min.y)
    const brush = { ctx, ...this.#looking }
    this.#writeNames(brush)
    this.#placed = this.#place(bounds)
    for (const [order, placed] of this.#placed.entries()) {
      const { item, said, at } = placed
      const isPointed = this.#isPointed(item)
      this.#placed[order] = {
        ...placed,
        ...drawMark(brush, said, { x: at.x, y: at.y, isPointed }),
      }
    }
  }

  #isPointed(item: Item<T>): boolean {
    const id = this.#pointed
    if (id === undefined) return false
    return item.kind === 'one' ? item.sensor.id === id : item.has(id)
  }

  #place(bounds: Bounds): Placed<T>[] {
    const { _map: map } = this.#inner
    const { scale } = this.#looking
    const cornerOf = (point: Point | undefined): LatLng =>
      map.layerPointToLatLng(point ?? new Point(0, 0))
    const [northWest, southEast] = [cornerOf(bounds.min), cornerOf(bounds.max)]
    const box = [northWest.lng, southEast.lat, southEast.lng, northWest.lat] as const
    return this.#clusters
      .itemsIn(box, map.getZoom())
      .map((item) => {
        const said = this.#tally(item)
        const at = map.latLngToLayerPoint(new LatLng(item.lat, item.lon))
        const isPointed = this.#isPointed(item)
        const height = isPointed ? Number.POSITIVE_INFINITY : heightOf(said, scale)
        return { item, said, at, order: height, width: 0, height: 0 }
      })
      .toSorted((a, b) => a.order - b.order)
  }

  #writeNames({ ctx, looks }: Brush): void {
    const { _map: map } = this.#inner
    ctx.font = `600 13px ${looks.font}`
    ctx.textAlign = 'center'
    ctx.textBaseline = 'middle'
    ctx.lineJoin = 'round'
    ctx.lineWidth = 3
    for (const { name, lat, lon } of this.#names) {
      const { x, y } = map.latLngToLayerPoint(new LatLng(lat, lon))
      const text = name.length > 40 ? `${name.slice(0, 39)}…` : name
      ctx.strokeStyle = looks.land
      ctx.strokeText(text, x, y - 30)
      ctx.fillStyle = looks.muted
      ctx.fillText(text, x, y - 30)
    }
  }
}
