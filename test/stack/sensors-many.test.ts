/** 0, 1 and very many sensors: no answer grows with the network, and no page stops. */
import { Kvm } from '@nats-io/kv'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buckets } from '../../schemas/subjects.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, overflowOf } from '../support/city-browser.ts'
import { testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'

const idOf = (n: number): string => `NGR-LOS-IKJ-${String(n).padStart(6, '0')}`
const nowMs = Math.floor(Date.now() / 1000) * 1000

async function registerMany(api: TestApi, count: number): Promise<void> {
  const bucket = await new Kvm(api.nc).open(buckets.sensors)
  const put = (n: number) =>
    bucket.put(
      idOf(n),
      JSON.stringify({
        id: idOf(n),
        cadence_seconds: 300,
        sites: [siteOf('Ikeja', 6.4 + (n % 300) / 1_000, 3.2 + (n % 333) / 1_000)],
        created_at: '2020-01-01T00:00:00Z',
      }),
    )
  for (let from = 1; from <= count; from += 2_000)
    await Promise.all(
      Array.from({ length: Math.min(2_000, count + 1 - from) }, (_, i) => put(from + i)),
    )
  await eventually(
    'the API knows them',
    async () => (await jsonOf(await api.get('/v1/sensors?limit=1'))).total === count,
  )
}

/** No JSON of the API or page of the server is larger, however many sensors there are. */
const mostBytes = 1_000_000
// oxlint-disable-next-line typescript/no-explicit-any -- any response; the test says what it should be
const jsonOf = async (answer: Response): Promise<any> => await answer.json()
const sizeOf = async (answer: Response): Promise<number> => (await answer.bytes()).length

/** In one answer they would be several times what it may have. */
const most = inject('soak') ? 100_000 : 10_000

describe.each([0, 1, most])('a network of %i sensors', (count) => {
  let api: TestApi
  let browser: CityBrowser | undefined
  let dashboardUrl: string
  const opened = new AsyncDisposableStack()
  beforeAll(async () => {
    api = opened.use(await testApi())
    await registerMany(api, count)
    if (count > 0) await api.commit([{ sensor: idOf(1), timeMs: nowMs - 60_000, aqi: 180 }])
    if (chromiumMissing === undefined) browser = opened.use(await cityBrowser(api))
    const dashboard =
      browser?.dashboard ??
      opened.use(await testDashboard({ nats: api.nats, env: { AIRPROOF_API_URL: api.url } }))
    dashboardUrl = dashboard.url
  })
  afterAll(() => opened.disposeAsync())

  test('is listed in pages that have a bound, from the first to the last', async () => {
    const first = await jsonOf(await api.get('/v1/sensors'))
    expect([first.count, first.total]).toEqual([Math.min(100, count), count])
    const seen = new Set<string>()
    let cursor = ''
    do {
      const answer = await api.get(`/v1/sensors?limit=1000${cursor && `&cursor=${cursor}`}`)
      const text = await answer.text()
      expect(text.length).toBeLessThan(mostBytes)
      const { sensors, next_cursor: next } = JSON.parse(text)
      for (const { id } of sensors) seen.add(id)
      cursor = next ?? ''
    } while (cursor !== '')
    expect(seen.size).toBe(count)
    expect((await api.get('/v1/sensors?limit=100000')).status).toBe(400)
  })

  test.each([
    '/v1/sensors?status=offline&limit=1000',
    '/v1/sensors?area=Ikeja&limit=1000',
    '/v1/sensors?bbox=3,6,4,7&limit=1000',
    '/v1/sensors?near=6.5,3.35&radius=50&limit=1000',
    '/v1/sensors?include=latest&limit=1000',
    '/v1/sensors?include=latest&limit=1000&format=csv',
    '/v1/areas',
    '/v1/areas/Ikeja',
    '/v1/areas/Lagos',
    '/v1/readings?limit=1000',
  ])('%s has a bound', async (path) => {
    const answer = await api.get(path)
    expect(answer.status).toBe(count === 0 && path.includes('Ikeja') ? 404 : 200)
    expect(await sizeOf(answer)).toBeLessThan(mostBytes)
  })

  test.each([
    '/',
    '/areas/ikeja',
    '/now',
    '/now/ikeja',
    '/embed/area/ikeja',
    '/badge/area/ikeja.svg',
  ])('the server writes %s within a bound', async (path) => {
    const answer = await fetch(dashboardUrl + path)
    expect(answer.status).toBe(count === 0 && path.includes('ikeja') ? 404 : 200)
    expect(await sizeOf(answer)).toBeLessThan(100_000)
  })

  describe.skipIf(chromiumMissing !== undefined)(
    `in a browser${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
    () => {
      const open = async (path: string): Promise<Page> => {
        const { page, complaints } = await browser!.open(path)
        page.setDefaultTimeout(120_000)
        expect(complaints).toEqual([])
        return page
      }
      const rows = (page: Page) => page.locator('.sensor-list li')

      test('the list of the city has a bound, the worst first, and finds any of them', async () => {
        const page = await open('/')
        if (count === 0) {
          await page.locator('.empty pre').waitFor()
          return
        }
        await rows(page)
          .filter({ hasText: idOf(1) })
          .waitFor()
        await expect.poll(() => rows(page).count()).toBe(Math.min(60, count))
        // all are listed: the last is found, and the page answers
        await page.getByRole('searchbox').fill(idOf(count))
        await eventually('it is found', async () => (await rows(page).count()) === 1)
        expect(await rows(page).textContent()).toContain(idOf(count))
        expect(await nodesOf(page)).toBeLessThan(5_000)
        expect(await overflowOf(page)).toBe(0)
        await page.context().close()
      })

      test('an area says how many it shows of how many', async () => {
        const page = await open('/areas/ikeja')
        if (count === 0) {
          await page.getByText('There is no such area').first().waitFor()
          return
        }
        await rows(page)
          .filter({ hasText: idOf(1) })
          .waitFor()
        const note = page.getByText(`The first 1,000 of ${most.toLocaleString('en')} sensors`)
        expect(await note.count()).toBe(count > 1_000 ? 1 : 0)
        expect(await nodesOf(page)).toBeLessThan(5_000)
        await page.context().close()
      })
    },
  )
})

const nodesOf = async (page: Page): Promise<number> =>
  Number(await page.evaluate('document.querySelectorAll("*").length'))
