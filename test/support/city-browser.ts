/** The public pages in a real Chromium, with the dashboard in front of a given API. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import type { TestApi } from './api.ts'
import { openChromium } from './chromium.ts'
import { type TestDashboard, testDashboard } from './dashboard.ts'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type CityBrowser = AsyncDisposable & {
  readonly dashboard: TestDashboard
  readonly open: (path: string, looks?: Looks) => Promise<OpenPage>
}

type Looks = { readonly width?: number; readonly scheme?: 'light' | 'dark' }

export type OpenPage = {
  readonly page: Page
  /** Errors of scripts, and what the content policy refused. */
  readonly complaints: readonly string[]
  /** Requests to any server but the dashboard. */
  readonly strangers: readonly string[]
}

/** Builds the pages as they are shipped. @param outDir an empty or missing folder */
export const buildPages = async (outDir: string) =>
  build({
    configFile: fileURLToPath(new URL('../../dashboard/web/vite.config.ts', import.meta.url)),
    logLevel: 'silent',
    build: { outDir, emptyOutDir: true },
  })

export async function cityBrowser(api: Pick<TestApi, 'nats' | 'url'>): Promise<CityBrowser> {
  await using opened = new AsyncDisposableStack()
  const pages = join(opened.use(temporaryFolder()).path, 'pages')
  await buildPages(pages)
  const dashboard = opened.use(
    await testDashboard({
      nats: api.nats,
      env: { AIRPROOF_API_URL: api.url, AIRPROOF_DASHBOARD_PAGES: pages },
    }),
  )
  // the API learns the dashboard's key a moment after it was made
  await eventually('the dashboard reaches the API', async () => {
    const answer = await fetch(`${dashboard.url}/data/v1/sensors?limit=1`)
    return answer.status === 200
  })
  const browser = await openChromium()
  opened.defer(() => browser.close())
  const open: CityBrowser['open'] = async (path, { width = 1280, scheme = 'light' } = {}) => {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
      timezoneId: 'Africa/Lagos',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(45_000)
    const complaints: string[] = []
    const strangers: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error' && /policy|refused/i.test(message.text()))
        complaints.push(message.text())
    })
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(dashboard.url))
        strangers.push(request.url())
    })
    await page.goto(dashboard.url + path)
    return { page, complaints, strangers }
  }
  const all = opened.move()
  return { dashboard, open, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** A screenshot of the page when its test failed. @returns its path, for the failure's text */
export async function pictureOf(page: Page): Promise<string> {
  const path = join(mkdtempSync(join(tmpdir(), 'airproof-failed-')), 'page.png')
  await page.screenshot({ path, fullPage: true })
  return path
}

/** Whether the page is wider than its window, which must never happen. */
export const overflowOf = async (page: Page): Promise<number> =>
  Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
