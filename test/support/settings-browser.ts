/** The pages of the settings in a real Chromium, served by the API and the dashboard. */
import type { BrowserContext, Page } from 'playwright-core'
import type { Language } from '../../dashboard/texts/languages.ts'
import { openChromium } from './chromium.ts'
import { builtPages, sessionCookie } from './city-browser.ts'
import { type TestDashboard, testDashboard } from './dashboard.ts'
import type { SignedIn } from './signed-in.ts'
import { type WebhookApi, webhookApi } from './webhook-api.ts'

export type SettingsBrowser = AsyncDisposable & {
  readonly api: WebhookApi
  readonly dashboard: TestDashboard
  /** A new window, signed in; its page has loaded nothing yet. */
  readonly open: (who: SignedIn, looks?: Looks) => Promise<Window>
}

type Looks = {
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
  readonly language?: Language
}

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
  const api = opened.use(await webhookApi({ AIRPROOF_SECRET: secretKey }))
  const dashboard = opened.use(
    await testDashboard({
      nats: api.nats,
      env: {
        AIRPROOF_API_URL: api.url,
        AIRPROOF_SECRET: secretKey,
        AIRPROOF_DASHBOARD_PAGES: await builtPages(),
        AIRPROOF_CONTACT: 'help@example.org',
      },
    }),
  )
  const browser = await openChromium()
  opened.defer(() => browser.close())
  const open: SettingsBrowser['open'] = async (
    who,
    { width = 1280, scheme = 'light', language = 'en' } = {},
  ) => {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: scheme,
      permissions: ['clipboard-read', 'clipboard-write'],
      reducedMotion: 'reduce',
    })
    await context.addCookies([
      { name: 'lang', value: language, url: dashboard.url },
      sessionCookie(dashboard.url, who.token),
    ])
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
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
