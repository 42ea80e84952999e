/** The map: the coast and the sensors on two canvases. It requests nothing of other servers. */
import { Canvas, Control, Map as LeafletMap, latLngBounds, Polygon } from 'leaflet'
import { unpackRing } from '../../map/clip-rings.ts'
import type { CitySensor } from './city-sensor.ts'
import { type MarkLooks, markCanvas, SensorMark } from './sensor-mark.ts'
import { openTooltip } from './tooltip.ts'

export type CityMap = {
  readonly close: () => void
  /** All sensors. */
  readonly show: (sensors: Iterable<CitySensor>) => void
  readonly update: (changed: readonly CitySensor[]) => void
  /** Moves the view to these. */
  readonly fit: (sensors: readonly CitySensor[]) => void
  /** After the palette, or dark and light, changed. */
  readonly recolor: () => void
}

type Options = { readonly pick: (id: string) => void }

const attribution =
  '<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap contributors</a>, ODbL'

export function openCityMap(element: HTMLElement, { pick }: Options): CityMap {
  const map = new LeafletMap(element, {
    center: [6.52, 3.38],
    zoom: 11,
    minZoom: 8,
    maxZoom: 17,
    zoomSnap: 0.5,
    attributionControl: false,
    fadeAnimation: false,
    markerZoomAnimation: false,
    zoomAnimation: !matchMedia('(prefers-reduced-motion: reduce)').matches,
  })
  new Control.Attribution({ prefix: false }).addTo(map).addAttribution(attribution)
  map.createPane('ground').style.zIndex = '300'
  map.createPane('marks').style.zIndex = '410'
  const renderer = markCanvas('marks')
  const land: Polygon[] = []
  let looks = readLooks(element)
  const tip = openTooltip(element)
  map.on('movestart', tip.hide)
  const drawLand = async (): Promise<void> => {
    const { default: ground } = await import('../../map/land.json')
    const canvas = new Canvas({ pane: 'ground', padding: 0.5 })
    for (const rings of ground.polygons) {
      const points = rings.map((ring) =>
        unpackRing(ring, ground.scale).map(([lon, lat]): [number, number] => [lat, lon]),
      )
      const shape = { stroke: false, fillOpacity: 1, interactive: false, smoothFactor: 0.6 }
      land.push(
        new Polygon(points, {
          ...shape,
          renderer: canvas,
          pane: 'ground',
          fillColor: looks.land,
        }).addTo(map),
      )
    }
  }
  void drawLand()

  const marks = new Map<string, SensorMark>()
  const add = (sensor: CitySensor): void => {
    const options = { renderer, pane: 'marks', radius: radiusAt(map.getZoom(), marks.size) }
    const at: [number, number] = [sensor.lat, sensor.lon]
    const mark = new SensorMark(at, options, { sensor, looks: () => looks })
    mark.on('mouseover', () => tip.show(mark.sensor, map.latLngToContainerPoint(mark.getLatLng())))
    mark.on('mouseout', tip.hide)
    mark.on('click', () => pick(mark.sensor.id))
    marks.set(sensor.id, mark.addTo(map))
  }
  const resize = (): void => {
    const radius = radiusAt(map.getZoom(), marks.size)
    for (const mark of marks.values()) if (mark.getRadius() !== radius) mark.setRadius(radius)
  }
  map.on('zoomend', resize)
  const watched = new ResizeObserver(() => map.invalidateSize({ animate: false }))
  watched.observe(element)

  return {
    show: (sensors) => {
      const gone = new Set(marks.keys())
      for (const sensor of sensors) {
        gone.delete(sensor.id)
        const mark = marks.get(sensor.id)
        if (mark === undefined) add(sensor)
        else renew(mark, sensor)
      }
      for (const id of gone) {
        marks.get(id)?.remove()
        marks.delete(id)
      }
      resize()
    },
    update: (changed) => {
      for (const sensor of changed) {
        const mark = marks.get(sensor.id)
        if (mark !== undefined) renew(mark, sensor)
      }
    },
    fit: (sensors) => {
      if (sensors.length === 0) return
      const bounds = latLngBounds(sensors.map(({ lat, lon }): [number, number] => [lat, lon]))
      map.fitBounds(bounds, { padding: [28, 28], maxZoom: 14, animate: false })
    },
    recolor: () => {
      looks = readLooks(element)
      for (const part of land) part.setStyle({ fillColor: looks.land })
      for (const mark of marks.values()) mark.redraw()
    },
    close: () => {
      watched.disconnect()
      map.remove()
    },
  }
}

/** Draws only what has changed. */
function renew(mark: SensorMark, sensor: CitySensor): void {
  const was = mark.sensor
  mark.sensor = sensor
  if (was.lat !== sensor.lat || was.lon !== sensor.lon) mark.setLatLng([sensor.lat, sensor.lon])
  else if (was.aqi !== sensor.aqi || was.isOnline !== sensor.isOnline) mark.redraw()
}

/** Room for the number when near, or where sensors are few; a dot otherwise. Pixels. */
const radiusAt = (zoom: number, count: number): number => {
  if (count <= 150) return zoom < 10 ? 8 : 13
  if (zoom < 11) return 5
  return zoom < 13 ? 7 : 13
}

type Looks = MarkLooks & { readonly land: string }

function readLooks(element: HTMLElement): Looks {
  const style = getComputedStyle(element)
  const valueOf = (name: string): string => style.getPropertyValue(name).trim()
  return {
    line: valueOf('--mark-line'),
    muted: valueOf('--muted'),
    surface: valueOf('--surface'),
    land: valueOf('--land'),
  }
}
