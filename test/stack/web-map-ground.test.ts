/** The map where its ground is another's, away or not drawn by a GPU, and where there are few sensors. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { cutTiles } from '../../cli/map/cut-tiles.ts'
import { addOsmFeature } from '../../cli/map/osm-features.ts'
import { noFeatures } from '../../cli/map/shapes.ts'
import { tileArchive } from '../../cli/map/tile-archive.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, type OpenPage } from '../support/city-browser.ts'
import {
  groundColumn,
  inPill,
  keepWritten,
  markAt,
  tipInMiddle,
  writtenOn,
} from '../support/seen-map.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
/** Several dashboards of one network share it. */
const secret = newSecretKey()
const only = 'NGR-LOS-IKJ-001'
/** A picture of one pixel, `#336699`. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGMwTpsJAAICATNWh+JUAAAAAElFTkSuQmCC',
  'base64',
)

/** As `airproof map build --from` makes it of OpenStreetMap's tags: land, and one road of each class. */
function extractWithRoads(): Buffer {
  const box = [3.3, 6.4, 3.5, 6.6] as const
  const features = noFeatures()
  const line = (highway: string, lat: number) => ({
    type: 'Feature',
    properties: { highway },
    geometry: {
      type: 'LineString',
      coordinates: [
        [3.31, lat],
        [3.49, lat],
      ],
    },
  })
  for (const road of [line('primary', 6.505), line('motorway', 6.5), line('residential', 6.495)])
    addOsmFeature(road, box, features)
  const [west, south, east, north] = box
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  features.earth.push({
    type: 'Feature',
    properties: { kind: 'earth', level: 1 },
    geometry: { type: 'Polygon', coordinates: [ring] },
  })
  const zooms = { box, minZoom: 6, maxZoom: 13 }
  return tileArchive(cutTiles(features, zooms), { ...zooms, metadata: { attribution: 'a test' } })
}

describe.skipIf(chromiumMissing !== undefined)('the ground of the map', () => {
  let api: TestApi
  let opened: AsyncDisposableStack
  beforeAll(async () => {
    api = await testApi()
  })
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    await opened?.disposeAsync()
  })
  const openWith = async (
    options: Parameters<typeof cityBrowser>[1],
    looks?: Parameters<CityBrowser['open']>[1],
  ): Promise<OpenPage & { readonly dashboard: CityBrowser['dashboard'] }> => {
    opened = new AsyncDisposableStack()
    const env = { AIRPROOF_SECRET: secret, ...options?.env }
    const browser = opened.use(await cityBrowser(api, { ...options, env }))
    return { ...(await browser.open('/about', looks)), dashboard: browser.dashboard }
  }

  test('of no sensor there is no map but the first step; of one, one mark in the middle', async () => {
    const { page, dashboard, complaints } = await openWith({})
    await page.goto(dashboard.url)
    await page.getByText('airproof sensors add').waitFor()
    expect(await page.locator('.map').count()).toBe(0)
    await api.register({ id: only, sites: [siteOf('Ikeja', 6.6, 3.35)] })
    await api.commit([{ sensor: only, timeMs: nowMs - 60_000, aqi: 42 }])
    await page.reload()
    await expect.poll(() => tipInMiddle(page)).toContain(only)
    expect(await markAt(page, inPill)).toBe('#00e400')
    expect(complaints).toEqual([])
  })

  test('without a file the areas are named on the map', async () => {
    const { page, dashboard } = await openWith({ env: { AIRPROOF_MAP: 'none' } })
    await keepWritten(page)
    await page.goto(dashboard.url)
    await expect.poll(() => writtenOn(page)).toContain('Ikeja')
    expect(await page.locator('.leaflet-ground-pane canvas').count()).toBe(0)
  })

  test('until its file is there, and when it does not come, the areas are named on the map', async () => {
    const { page, dashboard, complaints } = await openWith({})
    await keepWritten(page)
    await page.route('**/map/city.pmtiles*', (route) => route.abort())
    await page.goto(dashboard.url)
    await expect.poll(() => writtenOn(page)).toContain('Ikeja')
    expect(await page.locator('.leaflet-ground-pane canvas').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test('has a scale, which follows the zoom', async () => {
    const { page, dashboard } = await openWith({})
    await page.goto(dashboard.url)
    const scale = page.locator('.leaflet-control-scale-line')
    const metres = async (): Promise<number> => {
      const [, count, unit] = /^(\d+) (k?m)$/.exec((await scale.textContent()) ?? '') ?? []
      return Number(count) * (unit === 'km' ? 1_000 : 1)
    }
    const before = await metres()
    expect(before).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(metres).toBeLessThan(before)
  })

  test('names its sources and their licences', async () => {
    const { page, dashboard } = await openWith({})
    await page.goto(dashboard.url)
    const credit = page.locator('.leaflet-control-attribution')
    for (const source of ['GSHHG', 'GeoNames', '© OpenStreetMap contributors'])
      await credit.getByRole('link', { name: source }).waitFor()
    for (const licence of ['LGPL', 'CC BY 4.0', 'ODbL'])
      expect(await credit.textContent()).toContain(licence)
  })

  test('may be tiles of another server, the only one that the policy of the page names', async () => {
    const asked: string[] = []
    const tiles = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.setHeader('content-type', 'image/png').end(pixel)
    })
    const host = await listenOn(tiles, { host: '127.0.0.1', port: 0, setting: 'none' })
    const { page, dashboard, complaints, strangers } = await openWith({
      env: {
        AIRPROOF_TILES_URL: `${host}/{z}/{x}/{y}.png`,
        AIRPROOF_MAP_ATTRIBUTION: '<a href="https://tiles.example.org/">Tiles of others</a>, CC0',
      },
    })
    opened.defer(() => {
      tiles.close()
      tiles.closeAllConnections()
    })
    await keepWritten(page)
    const answer = await page.goto(dashboard.url)
    const policy = answer?.headers()['content-security-policy'] ?? ''
    expect(policy).toContain(`img-src 'self' data: ${host};`)
    await page.locator('.leaflet-tile-loaded').first().waitFor()
    await page.getByRole('link', { name: 'Tiles of others' }).waitFor()
    expect(asked[0]).toMatch(/^\/\d+\/\d+\/\d+\.png$/)
    expect(strangers.length).toBeGreaterThan(0)
    expect(strangers.filter((url) => !url.startsWith(`${host}/`))).toEqual([])
    expect(complaints).toEqual([])
    // any other server is refused by the policy, which shows that the entry above is needed
    await page.evaluate(
      `void (document.body.append(Object.assign(new Image(), { src: 'http://localhost:9/x.png' })))`,
    )
    await expect.poll(() => complaints.length).toBe(1)
  })

  test.each([
    ['light', '#ffffff'],
    ['dark', '#2a3538'],
  ] as const)('of an extract with roads has three classes of them: %s', async (scheme, road) => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'map.pmtiles')
    writeFileSync(file, extractWithRoads())
    const { page, dashboard } = await openWith({ env: { AIRPROOF_MAP: file } }, { scheme })
    await page.goto(`${dashboard.url}/?at=6.5,3.4,15`)
    // from the upper to the lower one: how many pixels have the colour of roads
    const widths = async () => {
      const colors = await groundColumn(page, 150)
      return colors
        .map((color) => (color === road ? '#' : ' '))
        .join('')
        .trim()
        .split(/ +/)
        .map((run) => run.length)
    }
    await expect
      .poll(async () => (await widths()).toSorted((a, b) => a - b))
      .toEqual([expect.any(Number), expect.any(Number), expect.any(Number)])
    const [major = 0, highway = 0, minor = 0] = await widths()
    expect([minor > 0, major > minor, highway > major]).toEqual([true, true, true])
  })

  test('is drawn without WebGL and without a GPU', async () => {
    const { page, dashboard, complaints } = await openWith({
      args: [
        '--disable-webgl',
        '--disable-webgl2',
        '--disable-3d-apis',
        '--disable-software-rasterizer',
      ],
    })
    await page.goto(dashboard.url)
    expect(
      await page.evaluate(
        `['webgl', 'webgl2'].map((kind) => document.createElement('canvas').getContext(kind))`,
      ),
    ).toEqual([null, null])
    await expect.poll(() => tipInMiddle(page)).toContain(only)
    const shades = () =>
      page.evaluate(`Math.max(0, ...[...document.querySelectorAll('.leaflet-ground-pane canvas.leaflet-tile-loaded')].map((tile) => {
        const { data } = tile.getContext('2d').getImageData(0, 0, tile.width, tile.height)
        return new Set(Array.from({ length: data.length / 4 }, (_, at) => data[at * 4])).size
      }))`)
    await expect.poll(shades).toBeGreaterThan(2)
    expect(complaints).toEqual([])
  })
})
