/** What the map computes, without a browser: colours, steps, marks. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { airIndices } from '../../core/air/index/indices.ts'
import { usBands } from '../../core/air/index/us-bands.ts'
import { type MapSensor, openClusters } from '../../dashboard/web/map/clusters.ts'
import { heightOf, openTally } from '../../dashboard/web/map/tally.ts'
import { contrast, ringOf } from '../../dashboard/web/parts/air/ink.ts'
import { binOf, scaleOf, servedScale } from '../../dashboard/web/parts/air/scales.ts'
import { difference, visions } from '../support/color-vision.ts'

/** The colours of the ground as the pages have them: light, then dark. */
const grounds = (() => {
  const css = readFileSync('dashboard/web/public/tokens.css', 'utf8')
  const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)')
  const valueOf = (part: string, name: string): string => {
    const [, color] = new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(part) ?? []
    if (color === undefined) throw new Error(`tokens.css has no --${name}`)
    return color
  }
  return [light, dark].map((part) => [valueOf(part, 'land'), valueOf(part, 'water')])
})()

const epa = usBands.map(({ color }) => color)
const vision = usBands.map(({ colorVision }) => colorVision)

test('the ring of every mark stands out from land and water, by day and by night', () => {
  const steps = scaleOf('temperature', [20, 40]).bins.map(({ color }) => color)
  for (const ground of grounds)
    for (const color of [...epa, ...vision, ...steps])
      for (const under of ground) {
        const ring = ringOf(color, ground)
        expect([color, under, ring, contrast(ring, under) >= 3]).toEqual([color, under, ring, true])
      }
})

test('neighbours of the second palette differ by CIEDE2000 18 for every kind of colour vision', () => {
  const tables = airIndices.map(({ bands }) => bands.map(({ colorVision }) => colorVision))
  for (const kind of visions)
    for (const colors of tables)
      for (const [at, color] of colors.entries()) {
        const next = colors[at + 1]
        // levels of one category may share one
        if (next === undefined || next === color) continue
        const apart = difference(color, next, kind)
        expect([kind, color, next, apart >= 18]).toEqual([kind, color, next, true])
      }
})

test('the bound is one that EPA’s own second palette does not hold', () => {
  expect(difference('#a3064b', '#6d0526', 'deutan')).toBeLessThan(18)
})

test('a value belongs to the step that begins at or below it', () => {
  const scale = scaleOf('aqi', [])
  expect([0, 50, 51, 150, 151, 500, 999].map((value) => binOf(scale, value))).toEqual([
    0, 0, 1, 2, 3, 5, 5,
  ])
  expect(binOf(scale, null)).toBe(-1)
  expect(scaleOf('pm25', []).bins[1]?.from).toBe(9.1)
})

test('a quantity without categories has even steps of a round size over what is on show', () => {
  const { bins, isWorseAbove } = scaleOf('co2', [400, 450, 500, 700, 900])
  expect(bins.map(({ from }) => from)).toEqual([400, 500, 600, 700, 800])
  expect(isWorseAbove).toBe(false)
  for (const values of [[], [21], [5, 5, 5]]) {
    const froms = scaleOf('humidity', values).bins.map(({ from }) => from)
    expect(new Set(froms).size).toBe(5)
    expect(froms.every(Number.isFinite)).toBe(true)
  }
})

test('the steps of another index are those that the API serves', () => {
  const category = (name: string, low: number) => ({
    category: name,
    aqi: { low },
    color: '#50F0E6',
    color_vision: '#8cddf5',
  })
  const served = { categories: [category('good', 1), category('odd', 2)] }
  const { bins } = servedScale(served, { good: 'Good' }, true)
  expect(bins.map(({ words, color }) => [words, color])).toEqual([
    ['Good', '#8cddf5'],
    ['odd', '#8cddf5'],
  ])
})

type Sensor = MapSensor & { readonly isOnline: boolean; readonly value: number | null }
const sensor = (id: string, lat: number, lon: number, value: number | null = 40): Sensor => ({
  id,
  lat,
  lon,
  value,
  isOnline: value !== -1,
})
const view = { scale: scaleOf('aqi', []), valueFor: ({ value }: Sensor) => value }
const world = [-180, -85, 180, 85] as const

test('no sensor, and one, make no and one mark', () => {
  const clusters = openClusters<Sensor>()
  expect(clusters.itemsIn(world, 11)).toEqual([])
  clusters.load([sensor('a', 6.5, 3.4)])
  expect(clusters.itemsIn(world, 11)).toMatchObject([{ kind: 'one', sensor: { id: 'a' } }])
  clusters.load([])
  expect(clusters.itemsIn(world, 11)).toEqual([])
})

test('sensors at one place are a mark that counts each share, and apart when near', () => {
  const clusters = openClusters<Sensor>()
  clusters.load([
    sensor('a', 6.5, 3.4, 40),
    sensor('b', 6.501, 3.4, 160),
    sensor('c', 6.5, 3.401, null),
    sensor('d', 6.5, 3.41, -1),
  ])
  const [item] = clusters.itemsIn(world, 8)
  if (item?.kind !== 'many') throw new Error('they are one mark')
  const valued = { ...view, valueFor: (one: Sensor) => (one.isOnline ? one.value : null) }
  expect(openTally(valued)(item)).toEqual({
    kind: 'many',
    count: 4,
    value: 100,
    shares: [1, 0, 0, 1, 0, 0, 2],
  })
  expect(clusters.itemsIn(world, 17)).toHaveLength(4)
  expect(clusters.zoomOf(item.cluster)).toBeGreaterThan(8)
})

test('a sensor that moved is where it is now', () => {
  const clusters = openClusters<Sensor>()
  clusters.load([sensor('a', 6.5, 3.4)])
  clusters.load([sensor('a', 6.9, 3.9)])
  const [item, ...more] = clusters.itemsIn(world, 12)
  expect(more).toEqual([])
  expect([item?.lat, item?.lon].map((degrees) => degrees?.toFixed(3))).toEqual(['6.900', '3.900'])
  clusters.change([sensor('a', 6.4, 3.2), sensor('of no list', 1, 1)])
  expect(clusters.itemsIn(world, 12).map(({ lat }) => lat.toFixed(3))).toEqual(['6.400'])
})

test('news changes what a mark says, of one sensor and of several', () => {
  const clusters = openClusters<Sensor>()
  const far = sensor('far', 6.9, 3.9, 10)
  clusters.load([sensor('a', 6.5, 3.4, 40), sensor('b', 6.5, 3.4, 60), far])
  clusters.change([sensor('a', 6.5, 3.4, 160), { ...far, value: 320 }])
  const said = clusters.itemsIn(world, 12).map(openTally(view))
  expect(said).toMatchObject([
    { kind: 'many', value: 110, shares: [0, 1, 0, 1, 0, 0, 0] },
    { kind: 'one', value: 320 },
  ])
})

test('the worst is drawn last, offline ones first', () => {
  const { scale } = view
  const said = [
    { kind: 'one', value: 40 },
    { kind: 'offline' },
    { kind: 'many', count: 2, value: 180, shares: [] },
    { kind: 'one', value: null },
  ] as const
  const order = said.toSorted((a, b) => heightOf(a, scale) - heightOf(b, scale))
  expect(order.map((one) => ('value' in one ? one.value : 'offline'))).toEqual([
    'offline',
    null,
    40,
    180,
  ])
})

test('of 100,000 sensors only what is in view is drawn, in few marks', () => {
  const clusters = openClusters<Sensor>()
  clusters.load(
    Array.from({ length: 100_000 }, (_, at) =>
      sensor(`s${at}`, 6.3 + (at % 317) / 630, 3 + Math.floor(at / 317) / 350),
    ),
  )
  for (const zoom of [8, 10, 12, 14, 16]) {
    const wide = 360 / 2 ** zoom
    const box = [3.4 - wide * 2.5, 6.5 - wide * 1.5, 3.4 + wide * 2.5, 6.5 + wide * 1.5] as const
    const items = clusters.itemsIn(box, zoom)
    expect([zoom, items.length > 0, items.length < 1_000]).toEqual([zoom, true, true])
    const many = items.filter((item) => item.kind === 'many')
    expect(many.map((item) => item.sensors().length)).toEqual(many.map(({ count }) => count))
  }
  const [whole] = clusters.itemsIn(world, 1)
  expect(whole).toMatchObject({ kind: 'many', count: 100_000 })
})
