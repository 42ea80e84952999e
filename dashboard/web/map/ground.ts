/** What is behind the marks: the city's vector tiles, or tiles of another server. */
import { DomUtil, GridLayer, type Map as LeafletMap, latLngBounds, TileLayer } from 'leaflet'
import {
  CenteredTextSymbolizer,
  type Feature,
  type LabelRule,
  LineLabelSymbolizer,
  LineSymbolizer,
  leafletLayer,
  type PaintRule,
  PolygonSymbolizer,
} from 'protomaps-leaflet'
import type { Config } from '../me.ts'

export type GroundLooks = {
  readonly land: string
  readonly water: string
  readonly road: string
  readonly roadEdge: string
  readonly place: string
  readonly font: string
}

export type Ground = { readonly recolor: (looks: GroundLooks) => void }

type MapConfig = NonNullable<Config['map']>

// the library takes Leaflet from here
Object.assign(globalThis, { L: { GridLayer, DomUtil } })

type Rules = { readonly paintRules: PaintRule[]; readonly labelRules: LabelRule[] }
type VectorLayer = GridLayer &
  Rules & { backgroundColor: string; clearLayout: () => void; rerenderTiles: () => void }

type Options = {
  readonly looks: GroundLooks
  /** Called when the first of its tiles is there. */
  readonly drawn: () => void
}

/** @returns undefined where it cannot be had: the map is as good as one without a ground */
export async function addGround(
  map: LeafletMap,
  config: MapConfig,
  { looks, drawn }: Options,
): Promise<Ground | undefined> {
  const { url, isPicture, box, maxZoom } = config
  const bounds = box && latLngBounds([box[1], box[0]], [box[3], box[2]])
  const shared = { pane: 'ground', attribution: '', noWrap: true, ...(bounds && { bounds }) }
  if (isPicture) {
    const pictures = new TileLayer(url, { ...shared, maxNativeZoom: maxZoom, maxZoom: 19 })
    pictures.once('tileload', drawn).addTo(map)
    return { recolor: () => undefined }
  }
  const whole = new URL(url, location.href).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
  // the page may have been left meanwhile
  if (!(await canBeHad(whole)) || !map.getContainer().isConnected) return undefined
  // it extends the class that it was given above
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const layer = leafletLayer({
    ...shared,
    url: whole,
    maxDataZoom: maxZoom,
    backgroundColor: looks.water,
    ...rulesOf(looks),
  }) as unknown as VectorLayer
  layer.once('tileload', drawn).addTo(map)
  return {
    recolor: (next) => {
      Object.assign(layer, rulesOf(next), { backgroundColor: next.water })
      layer.clearLayout()
      layer.rerenderTiles()
    },
  }
}

/** A file that cannot be had would be drawn as water. The library asks for the same part first. */
async function canBeHad(url: string): Promise<boolean> {
  if (!new URL(url).pathname.endsWith('.pmtiles')) return true
  try {
    const answer = await fetch(url, { headers: { range: 'bytes=0-16383' } })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

function textOf({ props }: Feature, name: string): string {
  const value = props[name]
  return typeof value === 'string' ? value : ''
}
const levelOf = ({ props }: Feature): number => Number(props['level'] ?? 1)

type RoadClass = {
  readonly kinds: readonly string[]
  readonly from: number
  /** Pixels at zoom 12 and at zoom 16. */
  readonly widths: readonly [number, number]
}

/** Three, the widest last, so that it lies on the others; the kinds are those of Protomaps. */
const roads: readonly RoadClass[] = [
  { kinds: ['minor_road', 'other'], from: 13, widths: [0.6, 5] },
  { kinds: ['major_road', 'medium_road'], from: 10, widths: [1.2, 7] },
  { kinds: ['highway'], from: 8, widths: [2, 9] },
]

const grown =
  ([at12, at16]: readonly [number, number], more = 0) =>
  (zoom = 12): number =>
    Math.max(0.5, at12 * (at16 / at12) ** ((zoom - 12) / 4)) + more

function rulesOf(looks: GroundLooks): Rules {
  const area = (
    dataLayer: string,
    fill: string,
    fits: (feature: Feature) => boolean,
  ): PaintRule => ({
    dataLayer,
    symbolizer: new PolygonSymbolizer({ fill }),
    filter: (_, feature) => fits(feature),
  })
  const line = ({ kinds, from, widths }: RoadClass, isEdge: boolean): PaintRule => ({
    dataLayer: 'roads',
    minzoom: isEdge ? Math.max(from, 12) : from,
    symbolizer: new LineSymbolizer({
      color: isEdge ? looks.roadEdge : looks.road,
      width: grown(widths, isEdge ? 1.5 : 0),
      lineCap: 'round',
      lineJoin: 'round',
    }),
    filter: (_, feature) => kinds.includes(textOf(feature, 'kind')),
  })
  return {
    paintRules: [
      area('earth', looks.land, (feature) => levelOf(feature) < 3),
      area('water', looks.water, (feature) => !textOf(feature, 'kind').includes('pool')),
      area('earth', looks.land, (feature) => levelOf(feature) >= 3),
      ...roads.map((road) => line(road, true)),
      ...roads.map((road) => line(road, false)),
    ],
    labelRules: [
      place(looks, { kinds: ['locality'], size: 15, weight: 650, from: 6 }),
      place(looks, { kinds: ['neighbourhood', 'macrohood'], size: 12, weight: 500, from: 10 }),
      place(looks, { kinds: ['road'], size: 11, weight: 400, from: 14 }),
      {
        dataLayer: 'roads',
        minzoom: 13,
        symbolizer: new LineLabelSymbolizer({
          labelProps: ['name'],
          fill: looks.place,
          stroke: looks.land,
          width: 2,
          font: `400 11px ${looks.font}`,
        }),
      },
    ],
  }
}

type Place = {
  readonly kinds: readonly string[]
  readonly size: number
  readonly weight: number
  readonly from: number
}

const place = (looks: GroundLooks, { kinds, size, weight, from }: Place): LabelRule => ({
  dataLayer: 'places',
  minzoom: from,
  symbolizer: new CenteredTextSymbolizer({
    labelProps: ['name'],
    fill: looks.place,
    stroke: looks.land,
    width: 2,
    font: `${weight} ${size}px ${looks.font}`,
  }),
  sort: (a, b) => Number(a['min_zoom'] ?? 0) - Number(b['min_zoom'] ?? 0),
  filter: (zoom, feature) =>
    kinds.includes(textOf(feature, 'kind')) && Number(feature.props['min_zoom'] ?? 0) <= zoom + 1,
})
