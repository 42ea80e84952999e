/** The pages of the settings in a real Chromium, served by the API and the dashboard. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { openChromium } from './chromium.ts'
import { type TestDashboard, testDashboard } from './dashboard.ts'
import type { SignedIn } from './signed-in.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { type WebhookApi, webhookApi } from './webhook-api.ts'

export type SettingsBrowser = AsyncDisposable & {
  readonly api: WebhookApi
  readonly dashboard: TestDashboard
  /** A new window, signed in; its page has loaded nothing yet. */
  readonly open: (who: SignedIn, looks?: Looks) => Promise<Window>
}

type Looks = { readonly width?: number; readonly scheme?: 'light' | 'dark' }

export type Window = {
  readonly page: Page
  readonly context: BrowserContext
  /** Goes to a path and waits for its heading. */
  readonly goTo: (path: string) => Promise<void>
  /** What no page may cause: dialogs of scripts, errors, refusals of the content policy. */
  readonly complaints: string[]
}

/** @param secretKey of the processes that seal or open webhook secrets */
export async function settingsBrowser(secretKey: string): Promise<SettingsBrowser> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder()).path
  const pages = join(folder, 'pages')
  await build({
    configFile: fileURLToPath(new URL('../../dashboard/web/vite.config.ts', import.meta.url)),
    logLevel: 'silent',
    build: { outDir: pages, emptyOutDir: true },
  })
  const api = opened.use(await webhookApi({ AIRPROOF_SECRET: secretKey }))
  const dashboard = opened.use(
    await testDashboard({
      nats: api.nats,
      env: {
        AIRPROOF_API_URL: api.url,
        AIRPROOF_SECRET: secretKey,
        AIRPROOF_DASHBOARD_PAGES: pages,
        AIRPROOF_CONTACT: 'help@example.org',
      },
    }),
  )
  const browser = await openChromium()
  opened.defer(() => browser.close())
  const open: SettingsBrowser['open'] = async (who, { width = 1280, scheme = 'light' } = {}) => {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: scheme,
      permissions: ['clipboard-read', 'clipboard-write'],
      reducedMotion: 'reduce',
    })
    await context.addCookies([
      {
        name: '__Host-session',
        value: who.token,
        url: dashboard.url.replace('http:', 'https:'),
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
      },
    ])
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('console', (message) => {
      if (message.type() === 'error' && /policy|refused/i.test(message.text()))
        complaints.push(message.text())
    })
    return {
      page,
      context,
      complaints,
      goTo: async (path) => {
        await page.goto(dashboard.url + path)
        await page.locator('h1').first().waitFor()
      },
    }
  }
  const all = opened.move()
  return { api, dashboard, open, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const require = createRequire(import.meta.url)
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds serious or critical on the page as it is: the rule, and where. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // by the protocol, not by a script of the page, whose policy would refuse it
  await page.evaluate(axeSource)
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: () => Promise<{
          violations: { id: string; impact: string; nodes: { target: string[] }[] }[]
        }>
      }
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
  })
}
