/** The map: the ground, the marks over it, and how fingers and mouse use them. */
import {
  CircleMarker,
  Control,
  type LatLngBounds,
  Map as LeafletMap,
  latLngBounds,
  Point,
} from 'leaflet'
import type { Box } from '../../../core/map-box.ts'
import type { Config } from '../me.ts'
import type { Viewport } from '../parts/address-state.ts'
import { safeAttribution } from './attribution.ts'
import type { MapSensor } from './clusters.ts'
import type { Looks, Said } from './draw-marks.ts'
import { openGestures } from './gestures.ts'
import type { Ground, GroundLooks } from './ground.ts'
import { type AreaName, MarkLayer } from './mark-layer.ts'
import type { View } from './tally.ts'

type Sensor = MapSensor & { readonly isOnline: boolean; readonly area: string }

export type Shows<T> = View<T> & { readonly textOf: (value: number) => string }

export type CityMap<T> = {
  readonly close: () => void
  /** All sensors, after some came, went or moved. */
  readonly load: (sensors: readonly T[]) => void
  /** News of some of them. */
  readonly change: (sensors: readonly T[]) => void
  /** Other values, another quantity or other colours. */
  readonly look: (shows: Shows<T>) => void
  /** Marks one of them; undefined: none. */
  readonly point: (id: string | undefined) => void
  /** Moves the view to these. */
  readonly fit: (sensors: readonly T[]) => void
  readonly goTo: (viewport: Viewport) => void
  /** Shows where the reader is. */
  readonly here: (at: { readonly lat: number; readonly lon: number }) => void
}

type Options<T> = {
  readonly config: Config['map']
  /** What to show until there are sensors. */
  readonly box: Box
  readonly shows: Shows<T>
  readonly viewport: Viewport | undefined
  /** A sensor was chosen, or with undefined the choice was ended. */
  readonly pick: (sensor: T | undefined) => void
  readonly pointed: (id: string | undefined) => void
  readonly moved: (viewport: Viewport) => void
  readonly hint: (what: 'wheel' | 'touch' | undefined) => void
  /** Of a mark, and of its sensor if it is one, in a line of text; `at` undefined hides it. */
  readonly tell: (said: Said, sensor: T | undefined, at: Point | undefined) => void
  readonly words: { readonly zoomIn: string; readonly zoomOut: string }
}

export function openCityMap<T extends Sensor>(
  element: HTMLElement,
  { config, box, shows, viewport, pick, pointed, moved, hint, tell, words }: Options<T>,
): CityMap<T> {
  const map = new LeafletMap(element, {
    minZoom: 5,
    maxZoom: 18,
    zoomSnap: 0.5,
    attributionControl: false,
    fadeAnimation: false,
    zoomAnimation: !matchMedia('(prefers-reduced-motion: reduce)').matches,
  })
  if (viewport === undefined) map.fitBounds(latLngBounds(cornersOf(box)), { animate: false })
  else map.setView([viewport.lat, viewport.lon], viewport.zoom)
  nameButtons(map, [words.zoomIn, words.zoomOut])
  new Control.Scale({ imperial: false, position: 'topleft' }).addTo(map)
  map.createPane('ground').style.zIndex = '300'
  map.createPane('marks').style.zIndex = '410'
  let looks = readLooks(element)
  let showing = shows
  const marks = new MarkLayer<T>({ ...shows, looks })
  marks.addTo(map)
  // until the ground is drawn, and where it has no names, the areas' names are among the marks
  let isGroundThere = false
  let all: readonly T[] = []
  const name = (): void => marks.name(isGroundThere && hasGround(config, all) ? [] : namesOf(all))
  const ground = addGroundLater(map, config, element, () => {
    isGroundThere = true
    name()
  })
  const endGestures = openGestures(map, element, hint)
  listen(map, marks, { pick, pointed, tell })
  // only what the reader did is kept, not what the page did
  let isOurs = false
  map.on('moveend', () => {
    if (isOurs) return
    const { lat, lng: lon } = map.getCenter()
    moved({ lat, lon, zoom: map.getZoom() })
  })
  const byUs = (move: () => void): void => {
    isOurs = true
    move()
    isOurs = false
  }
  const size = new ResizeObserver(() => byUs(() => map.invalidateSize({ animate: false })))
  size.observe(element)
  const recolor = (): void => {
    looks = readLooks(element)
    marks.look({ ...showing, looks })
    void ground.then((found) => found?.recolor(readGroundLooks(element)))
  }
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', recolor)
  let hereMark: CircleMarker | undefined

  return {
    load: (sensors) => {
      all = sensors
      marks.load(sensors)
      name()
    },
    change: (sensors) => marks.change(sensors),
    look: (next) => {
      showing = next
      marks.look({ ...next, looks })
    },
    point: (id) => marks.point(id),
    fit: (sensors) => {
      if (sensors.length === 0) return
      byUs(() =>
        map.fitBounds(boundsOf(sensors), { padding: [36, 36], maxZoom: 14, animate: false }),
      )
    },
    goTo: ({ lat, lon, zoom }) => byUs(() => map.setView([lat, lon], zoom, { animate: false })),
    here: ({ lat, lon }) => {
      hereMark?.remove()
      const look = { radius: 8, weight: 3, color: looks.surface, fillColor: looks.accent }
      hereMark = new CircleMarker([lat, lon], { ...look, fillOpacity: 1, interactive: false })
      hereMark.addTo(map)
      map.setView([lat, lon], 14)
    },
    close: () => {
      scheme.removeEventListener('change', recolor)
      size.disconnect()
      endGestures()
      map.remove()
    },
  }
}

const cornersOf = ([west, south, east, north]: Box): [number, number][] => [
  [south, west],
  [north, east],
]

/** Leaflet's own words are English. */
function nameButtons(map: LeafletMap, names: readonly string[]): void {
  const buttons = map.zoomControl.getContainer()?.querySelectorAll('a') ?? []
  for (const [at, button] of [...buttons].entries()) {
    button.title = names[at] ?? ''
    button.setAttribute('aria-label', names[at] ?? '')
  }
}

const boundsOf = (sensors: readonly MapSensor[]): LatLngBounds =>
  latLngBounds(sensors.map(({ lat, lon }): [number, number] => [lat, lon]))

type Listeners<T> = Pick<Options<T>, 'pick' | 'pointed' | 'tell'>

function listen<T extends Sensor>(
  map: LeafletMap,
  marks: MarkLayer<T>,
  { pick, pointed, tell }: Listeners<T>,
): void {
  const hide = (): void => {
    pointed(undefined)
    tell({ kind: 'offline' }, undefined, undefined)
  }
  map.on('mousemove', ({ containerPoint }) => {
    const hit = marks.hit(containerPoint)
    map.getContainer().classList.toggle('is-over-mark', hit !== undefined)
    if (hit === undefined) return hide()
    const { item, said } = hit
    const sensor = item.kind === 'one' ? item.sensor : undefined
    pointed(sensor?.id)
    tell(said, sensor, map.latLngToContainerPoint([item.lat, item.lon]))
  })
  map.on('mouseout movestart zoomstart', hide)
  map.on('click', ({ containerPoint }) => {
    const item = marks.hit(containerPoint)?.item
    if (item?.kind !== 'many') return pick(item?.sensor)
    hide()
    const zoom = Math.min(marks.zoomOf(item.cluster), map.getMaxZoom())
    map.setView([item.lat, item.lon], Math.max(zoom, map.getZoom() + 1))
  })
}

/** Until the browser has nothing to do: a press is answered before the ground is drawn. */
const quiet = async (): Promise<unknown> =>
  new Promise((resolve) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(resolve, { timeout: 1_000 })
    else setTimeout(resolve)
  })

/** Its code and tiles are the largest part, so they come after the marks. */
async function addGroundLater(
  map: LeafletMap,
  config: Config['map'],
  element: HTMLElement,
  drawn: () => void,
): Promise<Ground | undefined> {
  if (config === undefined) return undefined
  const credit = new Control.Attribution({ prefix: false }).addTo(map)
  credit.addAttribution(safeAttribution(config.attribution))
  const { addGround } = await import('./ground.ts')
  await quiet()
  if (!element.isConnected) return undefined
  return await addGround(map, config, { looks: readGroundLooks(element), drawn })
}

/** Whether most of the sensors are on it; elsewhere nothing names their places. */
function hasGround(config: Config['map'], sensors: readonly MapSensor[]): boolean {
  if (config?.box === undefined) return config !== undefined
  const [west, south, east, north] = config.box
  const inside = sensors.filter(
    ({ lat, lon }) => lon >= west && lon <= east && lat >= south && lat <= north,
  )
  return inside.length * 2 >= sensors.length
}

/** Each area's name, in the middle of its sensors. */
const namesOf = (sensors: readonly Sensor[]): readonly AreaName[] =>
  [...Map.groupBy(sensors, ({ area }) => area)].map(([name, own]) => ({
    name,
    lat: own.reduce((sum, { lat }) => sum + lat, 0) / own.length,
    lon: own.reduce((sum, { lon }) => sum + lon, 0) / own.length,
  }))

const reader = (element: HTMLElement): ((name: string) => string) => {
  const style = getComputedStyle(element)
  return (name) => style.getPropertyValue(name).trim()
}

function readLooks(element: HTMLElement): Looks {
  const of = reader(element)
  return {
    land: of('--land'),
    water: of('--water'),
    surface: of('--surface'),
    text: of('--text'),
    muted: of('--muted'),
    accent: of('--accent'),
    font: of('--font'),
  }
}

function readGroundLooks(element: HTMLElement): GroundLooks {
  const of = reader(element)
  return {
    land: of('--land'),
    water: of('--water'),
    road: of('--road'),
    roadEdge: of('--road-edge'),
    place: of('--place'),
    font: of('--font'),
  }
}
