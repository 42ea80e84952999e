/** The public pages in a real Chromium, with the dashboard in front of a given API. */
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { inject } from 'vitest'
import { makeOnce } from '../../runtime/engines/engine-cache.ts'
import type { TestApi } from './api.ts'
import { openChromium } from './chromium.ts'
import { type TestDashboard, testDashboard } from './dashboard.ts'
import { eventually } from './eventually.ts'

export type CityBrowser = AsyncDisposable & {
  readonly dashboard: TestDashboard
  readonly open: (path: string, looks?: Looks) => Promise<OpenPage>
}

type Looks = {
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
  /** The worker that keeps what was last seen may run. */
  readonly isOfflineKept?: boolean
  readonly hasScript?: boolean
  /** Of the cookie of a session: the reader is signed in. */
  readonly session?: string
  readonly language?: 'en' | 'fr'
  /** Opened beside another page, as a tab of the same browser: cookies and files are there already. */
  readonly beside?: Page
}

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

/** The folder of the same, built once in a run. */
export async function builtPages(): Promise<string> {
  const folder = join(inject('ofRun'), 'pages')
  if (!existsSync(folder)) await makeOnce(folder, async (aside) => void (await buildPages(aside)))
  return folder
}

type Options = {
  /** More settings of the dashboard. */
  readonly env?: Readonly<Record<string, string>>
  /** More of Chromium's. */
  readonly args?: readonly string[]
}

export async function cityBrowser(
  api: Pick<TestApi, 'nats' | 'url'>,
  { env = {}, args = [] }: Options = {},
): Promise<CityBrowser> {
  await using opened = new AsyncDisposableStack()
  const dashboard = opened.use(
    await testDashboard({
      nats: api.nats,
      env: { AIRPROOF_API_URL: api.url, AIRPROOF_DASHBOARD_PAGES: await builtPages(), ...env },
    }),
  )
  // the API learns the dashboard's key a moment after it was made
  await eventually('the dashboard reaches the API', async () => {
    const answer = await fetch(`${dashboard.url}/data/v1/sensors?limit=1`)
    return answer.status === 200
  })
  const browser = await openChromium(args)
  opened.defer(() => browser.close())
  const newContext = async (looks: Looks): Promise<BrowserContext> => {
    const { width = 1280, scheme = 'light', session, language } = looks
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
      javaScriptEnabled: looks.hasScript !== false,
      timezoneId: 'Africa/Lagos',
      locale: 'en-GB',
      // what a page asks for is seen, and may be refused, by the test
      serviceWorkers: looks.isOfflineKept === true ? 'allow' : 'block',
    })
    const { url } = dashboard
    if (language !== undefined) await context.addCookies([{ name: 'lang', value: language, url }])
    if (session !== undefined) await context.addCookies([sessionCookie(url, session)])
    return context
  }
  const open: CityBrowser['open'] = async (path, looks = {}) => {
    const context = looks.beside?.context() ?? (await newContext(looks))
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
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

/** As the server sets it. */
export const sessionCookie = (url: string, value: string) => ({
  name: '__Host-session',
  value,
  url: url.replace('http:', 'https:'),
  secure: true,
  httpOnly: true,
  sameSite: 'Lax' as const,
})

/** A screenshot of the page when its test failed. @returns its path, for the failure's text */
export async function pictureOf(page: Page): Promise<string> {
  const path = join(mkdtempSync(join(tmpdir(), 'airproof-failed-')), 'page.png')
  await page.screenshot({ path, fullPage: true })
  return path
}

/** Whether the page is wider than its window, which must never happen. */
export const overflowOf = async (page: Page): Promise<number> =>
  Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
