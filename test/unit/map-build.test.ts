/** `airproof map build` without the network: features, tiles, and the one file they become. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { PMTiles, type Source } from 'pmtiles'
import { afterAll, expect, test } from 'vitest'
import { coastIn } from '../../cli/map/coast.ts'
import { cutTiles } from '../../cli/map/cut-tiles.ts'
import { checkArchive } from '../../cli/map/given-archive.ts'
import { command } from '../../cli/map/map.ts'
import { addOsmFeature } from '../../cli/map/osm-features.ts'
import { distinct, gazetteerIn, geonamesIn } from '../../cli/map/places.ts'
import { featuresIn } from '../../cli/map/read-geojson.ts'
import { clipRing, noFeatures } from '../../cli/map/shapes.ts'
import { tileArchive } from '../../cli/map/tile-archive.ts'

const folder = mkdtempSync(join(tmpdir(), 'airproof-map-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const written = (name: string, content: string | Uint8Array): string => {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

const box = [3, 6, 4, 7] as const
const feature = (tags: object, geometry: object) => ({
  type: 'Feature',
  properties: tags,
  geometry,
})
const line = (...coordinates: number[][]) => ({ type: 'LineString', coordinates })
const square = {
  type: 'Polygon',
  coordinates: [
    [
      [3.1, 6.1],
      [3.2, 6.1],
      [3.2, 6.2],
      [3.1, 6.1],
    ],
  ],
}
const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })

function featuresOf(...given: readonly unknown[]) {
  const into = noFeatures()
  for (const one of given) addOsmFeature(one, box, into)
  return into
}

test('roads are of three classes, waters are areas, places have names, the rest is left out', () => {
  const { roads, water, places, earth } = featuresOf(
    feature({ highway: 'motorway_link', name: 'Eko Bridge' }, line([3.3, 6.4], [3.4, 6.5])),
    feature({ tags: { highway: 'secondary' } }, line([3.3, 6.4], [3.4, 6.5])),
    feature({ highway: 'residential' }, line([3.3, 6.4], [3.4, 6.5])),
    feature({ highway: 'footway' }, line([3.3, 6.4], [3.4, 6.5])),
    feature({ highway: 'primary' }, line([9, 9], [9.1, 9.1])),
    feature({ natural: 'water' }, square),
    feature({ building: 'yes' }, square),
    feature({ place: 'suburb', name: 'Yaba' }, point(3.38, 6.5)),
    feature({ place: 'suburb' }, point(3.38, 6.5)),
    feature({ place: 'town', name: 'Far' }, point(9, 9)),
  )
  expect(roads.map(({ properties }) => properties['kind'])).toEqual([
    'highway',
    'major_road',
    'minor_road',
  ])
  expect(roads[0]?.properties['name']).toBe('Eko Bridge')
  expect([water.length, earth.length]).toEqual([1, 0])
  expect(places.map(({ properties }) => properties['name'])).toEqual(['Yaba'])
})

test('features that are none are left out', () => {
  const broken = [
    null,
    7,
    'text',
    {},
    feature({ highway: 'primary' }, {}),
    feature({ highway: 'primary' }, line([3.3, Number.NaN], [3.4])),
    feature({ natural: 'water' }, { type: 'Polygon', coordinates: 'x' }),
    feature({ place: 'city', name: 'Lagos' }, { type: 'Point', coordinates: ['3', '6'] }),
    { type: 'Feature', properties: null, geometry: null },
  ]
  expect(featuresOf(...broken)).toEqual(noFeatures())
})

test('a ring is cut to the box and closed; one outside is gone', () => {
  const ring = [
    [2, 6.5],
    [5, 6.5],
    [5, 9],
    [2, 9],
    [2, 6.5],
  ]
  const cut = clipRing(ring, box)
  expect(cut[0]).toEqual(cut.at(-1))
  for (const [lon = 0, lat = 0] of cut)
    expect([lon >= 3, lon <= 4, lat <= 7]).toEqual([true, true, true])
  expect(clipRing(ring, [8, 8, 9, 8.5])).toEqual([])
})

test('the coast is read from plain floats, an island in a lake as land', () => {
  const ring = (...numbers: number[]): Buffer => Buffer.from(new Float32Array(numbers).buffer)
  const land = ring(2, 5, 5, 5, 5, 8, 2, 8, 2, 5)
  const lake = ring(3.2, 6.2, 3.6, 6.2, 3.6, 6.6, 3.2, 6.2)
  written('gshhs_f.dat', Buffer.concat([land, lake]))
  written(
    'gshhsmeta_f.dat',
    `1 9 5 5 8 0 ${land.length} 0-E\n2 1 4 6.2 6.6 ${land.length} ${lake.length} 1\n1 1 4 50 51 0 8 9\n`,
  )
  const { earth, water } = coastIn(folder, box)
  expect([earth.length, water.length]).toEqual([1, 1])
  expect(water[0]?.properties).toEqual({ kind: 'lake', level: 2 })
})

test('names come from both sources, each place once, and only under the licences that are named', () => {
  const cities = written(
    'cities.txt',
    [
      '1\tIkeja\t\t\t6.6\t3.34\t\t\t\t\t\t\t\t\t313196',
      '2\tFar\t\t\t50\t3\t\t\t\t\t\t\t\t\t9',
    ].join('\n'),
  )
  const rows = written(
    'places.csv',
    `id,canonical_name,type,lat,lng,popularity,license
a,Ìkẹjà,settlement,6.601,3.341,180,ODbL
b,Yaba,settlement,6.5,3.37,20,ODbL
c,Shop,settlement,6.5,3.36,20,CC-BY-SA
d,A Road/B Road,road,6.5,3.36,0,ODbL
e,Broad Street,road,6.45,3.39,0,ODbL
`,
  )
  const places = distinct([...geonamesIn(cities, box), ...gazetteerIn(rows, box)])
  expect(places.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'Ikeja locality',
    'Yaba neighbourhood',
    'Broad Street road',
  ])
})

const sourceOf = (file: Buffer): Source => ({
  getKey: () => 'test',
  getBytes: async (offset, length) => ({
    data: new Uint8Array(file.subarray(offset, offset + length)).buffer,
  }),
})

test('tiles are read back by the library that the pages use, equal ones stored once', async () => {
  const features = featuresOf(feature({ natural: 'water' }, square))
  const tiles = cutTiles(features, { box, minZoom: 6, maxZoom: 10 })
  const file = tileArchive(tiles, { box, minZoom: 6, maxZoom: 10, metadata: { attribution: 'me' } })
  const archive = new PMTiles(sourceOf(file))
  expect(await archive.getHeader()).toMatchObject({ minZoom: 6, maxZoom: 10, minLon: 3, maxLat: 7 })
  expect(await archive.getMetadata()).toEqual({ attribution: 'me' })
  for (const { z, x, y, body } of tiles) {
    const found = await archive.getZxy(z, x, y)
    expect(Buffer.from(found?.data ?? new ArrayBuffer())).toEqual(Buffer.from(body))
  }
  expect(await archive.getZxy(10, 0, 0)).toBeUndefined()
})

test('an archive of very many tiles has its directory in leaves', async () => {
  const tiles = Array.from({ length: 40_000 }, (_, at) => ({
    z: 14,
    x: 8_000 + (at % 200),
    y: 7_800 + Math.floor(at / 200),
    body: Buffer.from(`tile ${at}${'x'.repeat((at * 7919) % 97)}`),
  }))
  const file = tileArchive(tiles, { box, minZoom: 14, maxZoom: 14, metadata: {} })
  const archive = new PMTiles(sourceOf(file))
  expect((await archive.getHeader()).rootDirectoryLength).toBeLessThan(16_384)
  for (const at of [0, 1, 19_999, 39_999]) {
    const tile = tiles[at]
    const found = await archive.getZxy(14, tile?.x ?? 0, tile?.y ?? 0)
    expect(Buffer.from(found?.data ?? new ArrayBuffer())).toEqual(tile?.body)
  }
})

test('the map of Lagos that we ship is one that pages can draw, with its sources named', async () => {
  const {
    box: shown,
    zooms,
    attribution,
    bytes,
  } = await checkArchive('dashboard/map/lagos.pmtiles')
  expect(shown).toEqual([2.7, 6.2, 4.4, 7])
  expect(zooms).toEqual([6, 12])
  expect(bytes).toBeLessThan(5_000_000)
  for (const source of ['GSHHG', 'GeoNames', 'OpenStreetMap']) expect(attribution).toContain(source)
})

async function listed(file: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const one of featuresIn(file, () => undefined)) found.push(one)
  return found
}

test('GeoJSON is read whole or by lines, and an error names the line', async () => {
  expect(await listed(written('a.geojson', '{"features":[1,2]}'))).toEqual([1, 2])
  expect(await listed(written('b.geojsonseq', '\u001E{"a":1}\n\n\u001E{"a":2}\n'))).toHaveLength(2)
  await expect(listed(written('c.geojsonl', '{}\n{'))).rejects.toThrow(/line 2: this is not JSON/)
  await expect(listed(written('d.geojson', '[]'))).rejects.toThrow(/FeatureCollection/)
  await expect(listed(join(folder, 'none.geojson'))).rejects.toThrow(/there is no file/)
})

const run = (flags: Readonly<Record<string, string>>) =>
  command.run({
    env: { AIRPROOF_DATA: folder },
    flags,
    words: ['build'],
    print: () => undefined,
    note: () => undefined,
    isTerminal: false,
    stop: new AbortController().signal,
  })

test('what cannot be built is refused in words before anything is fetched', async () => {
  await expect(run({})).rejects.toThrow(/--box \(or AIRPROOF_MAP_BOX\) is needed/)
  await expect(run({ box: '3,6,4' })).rejects.toThrow(/--box must be west,south,east,north/)
  await expect(run({ box: '3,6,4,7,8' })).rejects.toThrow(/--box must be west,south,east,north/)
  await expect(run({ box: '4,6,3,7' })).rejects.toThrow(/--box must have its west before its east/)
  await expect(run({ box: '0,0,9,9' })).rejects.toThrow(/larger than 5 by 5/)
  await expect(run({ box: '3,6,4,7', detail: '30' })).rejects.toThrow(/--detail/)
  await expect(run({ box: '3,6,4,7', from: 'lagos.osm.pbf' })).rejects.toThrow(/osmium export/)
  await expect(run({ from: written('bad.pmtiles', 'no tiles') })).rejects.toThrow(/not a PMTiles/)
})

test('a PMTiles file of the operator becomes the map, whole', async () => {
  // as the data folder before the first start
  const own = join(folder, 'not-made-yet', 'own.pmtiles')
  await run({ from: 'dashboard/map/lagos.pmtiles', out: own })
  expect(readFileSync(own)).toEqual(readFileSync('dashboard/map/lagos.pmtiles'))
  expect(
    gunzipSync(readFileSync(own).subarray(127, 127 + readFileSync(own).readUInt32LE(16))),
  ).toBeDefined()
})
