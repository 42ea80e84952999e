/**
 * Every page in every state it can be in: axe finds nothing in any scheme and width, nothing sticks out,
 * and no script fails. One city, which begins empty, gets its sensors, has its readings anchored, and in the end is
 * out of reach.
 */
import { readFileSync } from 'node:fs'
import { jetstream } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import type { ConsoleMessage, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { maskOf } from '../../core/air/quality.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { attemptSubject, rejectedHeaders, rejectedSubject } from '../../schemas/subjects.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { siteOf } from '../support/api.ts'
import { lookEverywhere, lookNarrow } from '../support/axe.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, type OpenPage, pictureOf } from '../support/city-browser.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultyProxy, faultyProxy } from '../support/faulty-proxy.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'
import { exampleAttempt } from '../support/webhook-api.ts'

// while one page is looked at, others load
vi.setConfig({ maxConcurrency: 3 })

type Who = 'visitor' | 'person' | 'operator'
type Language = 'en' | 'fr'
type State = {
  /** What is special about it. */
  readonly name: string
  readonly path: string
  readonly who?: Who
  /** Is there when the page is as it is to be looked at: a selector, in every language. */
  readonly sign: string
  /** What leads to the state, in English. */
  readonly act?: (page: Page) => Promise<void>
  readonly hasScript?: false
  /** It changes its cookies, so no other page may have them. */
  readonly isAlone?: true
  /** An answer that the state is about is an error in the browser's console. */
  readonly isRefused?: true
}

const nowMs = Math.floor(Date.now() / 1000) * 1000
const [live, silent, retired, unread, named] = [
  'NGR-LOS-IKJ-001',
  'NGR-LOS-IKJ-002',
  'NGR-LOS-IKJ-003',
  'NGR-LOS-IKJ-004',
  'NGR-LOS-SOM-005',
] as const
const markup = '<b onmouseover=alert(1)>'
/** As long as they may be: markup, right to left, and one word. */
const longArea = `${markup}شارع `.padEnd(80, 'x')
const longName = `${markup}${'شارع الميناء الطويل '.repeat(5)}`.padEnd(200, 'Street')
const slugOf = (area: string): string => encodeURIComponent(area)
const proofOf = (timeMs: number): string => `/proof/${live}/${formatIso(timeMs)}`
const sample = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/bundles/${name}.airproof.json`, import.meta.url))

const press = (name: string | RegExp) => (page: Page) =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click()
const bring = (buffer: Buffer, verdict: string) => async (page: Page) => {
  const file = { name: 'some.airproof.json', mimeType: 'application/json', buffer }
  await page.setInputFiles('input[type=file]', file)
  await page.locator(`.proof-paper[data-verdict=${verdict}]`).waitFor()
}
/** What is far below is asked for when it is scrolled to. */
const scrolled = async (page: Page): Promise<void> => {
  const loading = page.locator('.loading')
  await eventually('all of it is loaded', async () => {
    await page.evaluate(
      `(document.querySelector('.loading') ?? document.querySelector('.city-area'))?.scrollIntoView()`,
    )
    return (await loading.count()) === 0
  })
  await page.locator('.charts .uplot canvas').first().waitFor()
}
const dialog = 'dialog[open]'
const paper = (verdict: string): string => `.proof-paper[data-verdict=${verdict}]`

const ofWebhook = {
  path: '/settings/webhooks',
  who: 'operator',
  sign: 'a[href^="/settings/webhooks/wh_"]',
} as const
const openWebhook = async (page: Page): Promise<void> => {
  await page.locator(ofWebhook.sign).first().click()
  await page.locator('table tbody tr').first().waitFor()
}

const empty: readonly State[] = [
  { name: 'a city without sensors', path: '/', sign: '.empty pre' },
  { name: 'an area that is not there', path: '/areas/nowhere', sign: 'main h1', isRefused: true },
  {
    name: 'a sensor that is not there',
    path: '/sensors/NGR-LOS-IKJ-999',
    sign: '.card h1',
    isRefused: true,
  },
  { name: 'no file yet', path: '/proof', sign: '.proof-drop' },
  { name: 'for developers', path: '/developers', sign: 'pre' },
  { name: 'settings without a session', path: '/settings/keys', sign: 'main .actions' },
  { name: 'no keys yet', path: '/settings/keys', who: 'person', sign: 'main h1' },
  { name: 'no requests yet', path: '/settings/usage', who: 'person', sign: 'progress' },
  { name: 'webhooks of others', path: '/settings/webhooks', who: 'person', sign: 'main h1' },
  { name: 'no webhooks yet', path: '/settings/webhooks', who: 'operator', sign: 'main h1' },
  { name: 'the account', path: '/settings/account', who: 'person', sign: 'main h1' },
  { name: 'not for this account', path: '/operator', who: 'person', sign: 'main h1' },
  { name: 'nothing to watch', path: '/operator', who: 'operator', sign: 'main h1' },
  ...['sensors', 'rejected', 'anchors', 'accounts'].map(
    (tab): State => ({
      name: `${tab}, before the first`,
      path: `/operator?show=${tab}`,
      who: 'operator',
      sign: 'main h1',
    }),
  ),
]

const written: readonly State[] = [
  ...[
    '/about',
    '/about/method',
    '/about/data',
    '/about/privacy',
    '/login',
    '/signup',
    '/forgot',
  ].map((path): State => ({ name: path, path, sign: 'h1' })),
  { name: 'nothing at this address', path: '/nothing-here', sign: 'h1', isRefused: true },
  { name: 'the same, signed in', path: '/none', who: 'person', sign: 'h1', isRefused: true },
  { name: 'a link that is used up', path: '/confirm?token=x', sign: 'h1', isRefused: true },
  { name: 'the account, without scripts', path: '/account', who: 'person', sign: 'h1' },
  {
    name: 'a wrong password',
    path: '/login',
    sign: 'h1',
    isRefused: true,
    act: async (page) => {
      await page.getByLabel('Email address').fill('nobody@example.org')
      await page.getByLabel('Password').fill('a wrong password')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('[role=alert]').first().waitFor()
    },
  },
]

const places: readonly State[] = [
  { name: 'a city', path: '/', sign: '.sensor-list li', act: scrolled },
  { name: 'a city as text', path: '/', sign: '.headline', hasScript: false },
  { name: 'an area as text', path: '/areas/ikeja', sign: '.headline', hasScript: false },
  { name: 'a sensor as text', path: `/sensors/${live}`, sign: '.headline', hasScript: false },
  { name: 'settings as text', path: '/settings/keys', sign: 'h1', hasScript: false },
  { name: 'a sensor beside the map', path: `/?sensor=${live}`, sign: '.preview' },
  { name: 'a long name beside the map', path: `/?sensor=${named}`, sign: '.preview' },
  { name: 'a search without a find', path: '/?search=nothing', sign: '.city-list .empty' },
  { name: 'another quantity', path: '/?show=temperature', sign: '.sensor-list li' },
  { name: 'to share', path: '/', sign: '.headline-tools', act: press('Share') },
  { name: 'an area', path: '/areas/ikeja', sign: '.headline', act: scrolled },
  { name: 'a long area', path: `/areas/${slugOf(longArea)}`, sign: '.headline', act: scrolled },
  { name: 'a sensor', path: `/sensors/${live}`, sign: '.readings tbody tr', act: scrolled },
  {
    name: 'a sensor with all that opens',
    path: `/sensors/${live}?period=7d&compare=${silent}`,
    sign: '.readings tbody tr',
    act: async (page) => {
      await scrolled(page)
      await page.getByText('Show as a table').click()
      await page.locator('.chart-table tbody tr').first().waitFor()
      await page.getByText('Dates', { exact: true }).click()
      await page.locator('.readings-quality summary').first().click()
    },
  },
  { name: 'a silent sensor', path: `/sensors/${silent}`, sign: '.readings tbody tr' },
  { name: 'a retired sensor', path: `/sensors/${retired}`, sign: '.headline-tools button' },
  { name: 'a sensor that never sent', path: `/sensors/${unread}`, sign: '.headline-tools button' },
  { name: 'a sensor with a long name', path: `/sensors/${named}`, sign: '.readings tbody tr' },
  { name: 'a reading that waits', path: proofOf(nowMs), sign: paper('waiting') },
  {
    name: 'no such reading',
    path: `/proof/${live}/2020-01-01T00:00:00Z`,
    sign: 'main h1',
    isRefused: true,
  },
  { name: 'a frame of an area', path: '/embed/area/ikeja', sign: '#place' },
  { name: 'a frame of a sensor', path: `/embed/sensor/${named}`, sign: '#place' },
  { name: 'a frame without data', path: `/embed/sensor/${unread}`, sign: '#place' },
]

const tables: readonly State[] = [
  { name: 'keys', path: '/settings/keys', who: 'operator', sign: 'main h1' },
  {
    name: 'a new key',
    path: '/settings/keys',
    who: 'operator',
    sign: 'main h1',
    act: press('Generate new key'),
  },
  {
    name: 'a key, once',
    path: '/settings/keys',
    who: 'operator',
    sign: 'main h1',
    act: async (page) => {
      await press('Generate new key')(page)
      await page.getByLabel('Name').fill('laptop')
      await page.keyboard.press('Enter')
      await page.locator('.secret code').waitFor()
    },
  },
  {
    name: 'a key to roll',
    path: '/settings/keys',
    who: 'operator',
    sign: 'main h1',
    act: press(/^Roll /),
  },
  { name: 'usage', path: '/settings/usage', who: 'operator', sign: 'progress' },
  { name: 'webhooks', path: '/settings/webhooks', who: 'operator', sign: 'main h1' },
  { name: 'a webhook and its log', ...ofWebhook, act: openWebhook },
  {
    name: 'a log of deliveries, filtered',
    ...ofWebhook,
    act: async (page) => {
      await openWebhook(page)
      await page.getByLabel('Show').selectOption('retry')
      await page.getByLabel('Delivery id').fill(exampleAttempt.delivery)
      await page.getByRole('button', { name: 'Send it again' }).waitFor()
    },
  },
  {
    name: 'a log of deliveries, filtered to nothing',
    ...ofWebhook,
    act: async (page) => {
      await openWebhook(page)
      await page.getByLabel('From day').fill('2020-01-01')
      await page.getByLabel('To day').fill('2020-01-02')
      await page
        .getByText('None of this kind.')
        .or(page.getByText('Nothing was sent yet'))
        .waitFor()
    },
  },
  {
    name: 'a new webhook, with mistakes',
    path: '/settings/webhooks',
    who: 'operator',
    sign: 'main h1',
    isRefused: true,
    act: async (page) => {
      await press('New webhook')(page)
      await page.getByLabel('AQI threshold').fill('many')
      await press('Create')(page)
      await page.locator('[aria-invalid=true]').first().waitFor()
    },
  },
  {
    name: 'a session that ended',
    path: '/settings/keys',
    who: 'operator',
    sign: 'main h1',
    isAlone: true,
    isRefused: true,
    act: async (page) => {
      await page.context().clearCookies()
      await page.getByRole('link', { name: 'Usage' }).first().click()
      await page.locator(dialog).waitFor()
    },
  },
  { name: 'stages', path: '/operator', who: 'operator', sign: 'main h1' },
  { name: 'sensors', path: '/operator?show=sensors', who: 'operator', sign: 'table tbody tr' },
  {
    name: 'a sensor to add, with mistakes',
    path: '/operator?show=sensors',
    who: 'operator',
    sign: 'table tbody tr',
    isRefused: true,
    act: async (page) => {
      await press('Add a sensor')(page)
      await page.getByLabel('Latitude').fill('north')
      await press('Add it')(page)
      await page.locator('[aria-invalid=true]').first().waitFor()
    },
  },
  {
    name: 'a sensor to manage',
    path: '/operator?show=sensors',
    who: 'operator',
    sign: 'table tbody tr',
    act: async (page) => {
      await press(`Manage ${named}`)(page)
      await page.locator(`${dialog} summary`).first().waitFor()
      for (const part of await page.locator(`${dialog} summary`).all()) await part.click()
    },
  },
  {
    name: 'a list to import',
    path: '/operator?show=sensors',
    who: 'operator',
    sign: 'table tbody tr',
    act: async (page) => {
      await press('Import a list')(page)
      const buffer = Buffer.from(
        `id,area,lat,lon,address\nNGR-LOS-IMP-001,Yaba,north,3.3,x\nNGR-LOS-IMP-002,Yaba,6.5,3.3,${markup}\n`,
      )
      await page
        .getByLabel('CSV file')
        .setInputFiles({ name: 'sensors.csv', mimeType: 'text/csv', buffer })
      await page.getByText('line 2:').waitFor()
    },
  },
  { name: 'refused', path: '/operator?show=rejected', who: 'operator', sign: 'table tbody tr' },
  {
    name: 'a refused message',
    path: '/operator?show=rejected',
    who: 'operator',
    sign: 'table tbody tr',
    act: async (page) => {
      await press(/^Show not_json/)(page)
      await page.locator(`${dialog} pre`).first().waitFor()
    },
  },
  { name: 'anchors', path: '/operator?show=anchors', who: 'operator', sign: 'main h1' },
  { name: 'accounts', path: '/operator?show=accounts', who: 'operator', sign: 'table tbody tr' },
]

const anchored: readonly State[] = [
  { name: 'a proof', path: proofOf(nowMs), sign: paper('consistent') },
  {
    name: 'a proof with all that opens',
    path: proofOf(nowMs),
    sign: paper('consistent'),
    act: async (page) => {
      for (const part of await page.locator('.proof-paper summary').all()) await part.click()
    },
  },
  {
    name: 'a proof whose block the reader confirmed',
    path: proofOf(nowMs),
    sign: paper('consistent'),
    act: async (page) => {
      await page.getByText('Where it is anchored').first().click()
      const hashes = await page.locator('.proof-paper').textContent()
      await page.evaluate(
        'navigator.clipboard.writeText = async (text) => { window.copied = text }',
      )
      await press('Copy: Block hash')(page)
      await eventually('it is copied', async () => page.evaluate('window.copied'))
      const copied = String(await page.evaluate('window.copied'))
      expect(hashes).toBeTruthy()
      await page.getByLabel(/^Or compare the block’s hash/).fill(copied)
      await page.locator(paper('matches')).waitFor()
    },
  },
  {
    name: 'a link to another version',
    path: `${proofOf(nowMs)}?hash=0x${'34'.repeat(32)}`,
    sign: 'main .notice, main .card, .proof-paper',
  },
  {
    name: 'a file of another network',
    path: '/proof',
    sign: '.proof-drop',
    act: bring(sample('v2-ed25519'), 'foreign'),
  },
  {
    name: 'a file that was changed',
    path: '/proof',
    sign: '.proof-drop',
    act: bring(
      Buffer.from(sample('in-a-city').toString().replace('"pm10":3621', '"pm10":3622')),
      'invalid',
    ),
  },
  {
    name: 'a file that is not a proof',
    path: '/proof',
    sign: '.proof-drop',
    act: bring(Buffer.from('no'), 'invalid'),
  },
  {
    name: 'a file that is too large',
    path: '/proof',
    sign: '.proof-drop',
    act: async (page) => {
      const buffer = Buffer.alloc(2_000_000, '[')
      await page.setInputFiles('input[type=file]', {
        name: 'huge.json',
        mimeType: 'application/json',
        buffer,
      })
      await page.locator('[role=alert]').waitFor()
    },
  },
  {
    name: 'readings that were checked',
    path: `/sensors/${live}`,
    sign: '.readings tbody tr',
    act: async (page) => {
      await press('Check these readings')(page)
      await page.locator('.readings .proof-badge', { hasText: '✓' }).first().waitFor()
    },
  },
  { name: 'anchors', path: '/operator?show=anchors', who: 'operator', sign: 'table tbody tr' },
]

const failing: readonly State[] = [
  { name: 'a city', path: '/', sign: '[role=alert]' },
  { name: 'an area', path: '/areas/yaba', sign: '.headline-advice' },
  { name: 'a sensor', path: `/sensors/${live}`, sign: '[role=alert]' },
  { name: 'a proof', path: proofOf(nowMs), sign: '[role=alert]' },
  { name: 'usage', path: '/settings/usage', who: 'operator', sign: '[role=alert]' },
  { name: 'webhooks', path: '/settings/webhooks', who: 'operator', sign: '[role=alert]' },
].map(
  (state): State => ({
    ...state,
    who: (state.who as Who | undefined) ?? 'visitor',
    isRefused: true,
  }),
)

describe.skipIf(chromiumMissing !== undefined)(
  `every page${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let api: AnchoredApi
    let proxy: FaultyProxy
    let browser: CityBrowser
    let cells = 0
    const people = new Map<Who, SignedIn>()

    beforeAll(async () => {
      const secret = newSecretKey()
      api = opened.use(
        await anchoredApi({
          env: {
            AIRPROOF_SECRET: secret,
            AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
            AIRPROOF_OPEN_PROOFS_PER_MINUTE: '1000',
          },
        }),
      )
      // no block is made until a state is about one
      api.anvil.freeze()
      opened.defer(() => api.anvil.thaw())
      proxy = opened.use(await faultyProxy(api.url))
      browser = opened.use(
        await cityBrowser(
          { nats: api.nats, url: proxy.url },
          { env: { AIRPROOF_SECRET: secret, AIRPROOF_CONTACT: 'help@example.org' } },
        ),
      )
      people.set('person', await signedIn(browser.dashboard))
      people.set(
        'operator',
        await signedIn(browser.dashboard, { role: 'operator', tier: 'premium', name: markup }),
      )
    })
    afterAll(async () => {
      process.stdout.write(`${cells} cells\n`)
      await opened.disposeAsync()
    })

    const looksOf = (who: Who, language: Language) => {
      const session = people.get(who)?.token
      return { language, ...(session !== undefined && { session }) }
    }
    /** Of each reader the first; the others open beside it. */
    const firstPages = new Map<string, Promise<OpenPage>>()
    const firstPage = async (who: Who, language: Language): Promise<Page> => {
      const key = `${who} ${language}`
      const known = firstPages.get(key) ?? browser.open('/robots.txt', looksOf(who, language))
      firstPages.set(key, known)
      return (await known).page
    }

    /** Tabs of each reader that show nothing of interest now: a new one costs as much as a page. */
    const idleTabs = new Map<string, OpenPage[]>()
    const tabOf = async (who: Who, language: Language): Promise<OpenPage> => {
      const idle = idleTabs.get(`${who} ${language}`)?.pop()
      if (idle === undefined) {
        const beside = await firstPage(who, language)
        return await browser.open('/robots.txt', { ...looksOf(who, language), beside })
      }
      await idle.page.setViewportSize({ width: 1280, height: 800 })
      await idle.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      return idle
    }

    /** What is wrong with it, with a picture. */
    const look = async (state: State, language: Language): Promise<readonly string[]> => {
      const { path, who = 'visitor', sign, act, hasScript, isRefused } = state
      const tab = state.isAlone
        ? await browser.open('/robots.txt', looksOf(who, language))
        : await tabOf(who, language)
      const { page, complaints } = tab
      const complainedOf = complaints.length
      const errors: string[] = []
      const onConsole = (message: ConsoleMessage): void => {
        const isAnswer = message.text().startsWith('Failed to load resource')
        // a busy machine's, which the page asks again; what is refused for good is a fault of the page
        if (isAnswer && message.text().includes('status of 503')) return
        if (message.type() === 'error' && !(isRefused && isAnswer))
          errors.push(`${message.text()} ${message.location().url}`)
      }
      page.on('console', onConsole)
      const picture = async (): Promise<void> =>
        void process.stdout.write(`${state.name}, ${language}: ${await pictureOf(page)}\n`)
      try {
        if (hasScript === false) await page.route('**', asWithoutScripts)
        await page.goto(browser.dashboard.url + path)
        await page.locator(sign).first().waitFor()
        // of public pages, what is far below waits until it is scrolled to
        if (who !== 'visitor') await page.locator('.loading').first().waitFor({ state: 'detached' })
        if (language === 'en') await act?.(page)
        const seen = await (language === 'en' ? lookEverywhere(page) : lookNarrow(page))
        cells += seen.cells
        const faults = [...seen.faults, ...errors, ...complaints.slice(complainedOf)]
        if (faults.length > 0) await picture()
        await page.unrouteAll()
        page.off('console', onConsole)
        if (state.isAlone) await page.context().close()
        else {
          // what it still asks for is not the next state's
          await page.goto(`${browser.dashboard.url}/robots.txt`)
          const key = `${who} ${language}`
          idleTabs.set(key, [...(idleTabs.get(key) ?? []), tab])
        }
        return faults
      } catch (error) {
        await picture()
        throw error
      }
    }
    const lookAt = (states: readonly State[]): void => {
      test.concurrent.each(states)('$name ($path)', async (state) => {
        const english = await look(state, 'en')
        // what takes English words to come to is not another page
        const french = state.act === undefined ? await look(state, 'fr') : []
        expect({ english, french }).toEqual({ english: [], french: [] })
      })
    }

    test.each([
      ['light', '(prefers-color-scheme: light)', ['light, 390 px', 'light, 1440 px']],
      ['dark', '(prefers-color-scheme: dark)', ['dark, 390 px', 'dark, 1440 px']],
      ['wide', '(min-width: 1000px)', ['light, 1440 px', 'dark, 1440 px']],
    ])('what cannot be read on %s pages is found there, and only there', async (_, when, cells) => {
      const { page } = await browser.open('/about')
      // a style element would be refused by the page's policy
      await page.evaluate(`
        const words = document.createElement('p')
        words.textContent = 'hard to read'
        words.className = 'planted'
        document.querySelector('main').append(words)
        const sheet = new CSSStyleSheet()
        sheet.replaceSync(
          '.planted { background: #fff; color: #000 } @media ${when} { .planted { color: #ddd } }',
        )
        document.adoptedStyleSheets = [sheet]
      `)
      const seen = await lookEverywhere(page)
      expect(seen.faults).toEqual(
        cells.map((cell) => expect.stringMatching(new RegExp(`^${cell}: color-contrast: `))),
      )
      expect(seen.cells).toBe(5)
      await page.context().close()
    })
    describe('of a network without sensors', () => {
      lookAt(empty)
    })
    describe('that the server writes', () => {
      lookAt(written)
    })
    describe('of places', () => {
      beforeAll(async () => {
        const ikeja = siteOf('Ikeja')
        for (const id of [live, silent, unread]) await api.register({ id, sites: [ikeja] })
        await api.register({ id: retired, sites: [ikeja] })
        await api.register({
          id: named,
          sites: [{ ...siteOf(longArea, 6.55, 3.4), address: longName }],
        })
        await api.commit([
          ...Array.from({ length: 30 }, (_, at) => ({
            sensor: live,
            timeMs: nowMs - (29 - at) * 5 * minuteMs,
            pm25: 4_000,
            pm10: 5_000,
            flags: at > 27 ? maskOf('pm_flat') | maskOf('humidity_stuck') : 0,
          })),
          { sensor: silent, timeMs: nowMs - 2 * dayMs },
          { sensor: retired, timeMs: nowMs - 3 * dayMs },
          { sensor: named, timeMs: nowMs, area: longArea, aqi: 321 },
        ])
        await api.register({
          id: retired,
          sites: [ikeja],
          retired_at: formatIso(nowMs - dayMs),
        })
        await api.snapshot()
      })
      lookAt(places)
    })
    describe('with tables', () => {
      beforeAll(async () => {
        const { nc } = browser.dashboard
        const head = headers()
        head.set(rejectedHeaders.sensor, live)
        head.set(rejectedHeaders.why, markup)
        head.set(rejectedHeaders.arrived, String(nowMs))
        head.set(rejectedHeaders.length, '4')
        head.set(rejectedHeaders.sha256, 'ab'.repeat(32))
        const subject = rejectedSubject('not_json', 3, 7, 0, live)
        await jetstream(nc).publish(subject, longName, { headers: head })
        const operator = people.get('operator')
        await operator?.ask('POST', '/data/keys', { name: 'desk' })
        await eventually(
          'the key is in the list',
          async () => (await operator?.ask('GET', '/data/keys'))?.body.keys.length === 1,
        )
        const made = await operator?.ask('POST', '/data/v1/webhooks', {
          url: 'http://127.0.0.1:9/hook',
          events: ['aqi.high'],
          description: longName.slice(0, 100),
        })
        const webhook: string = made?.body.webhook.id
        for (const outcome of ['delivered', 'retry'] as const)
          await jetstream(nc).publish(
            attemptSubject(webhook),
            JSON.stringify({ ...exampleAttempt, webhook, outcome }),
          )
      })
      lookAt(tables)
    })
    describe('of what is anchored', () => {
      beforeAll(async () => {
        api.anvil.thaw()
        await api.anchored()
      })
      lookAt(anchored)
    })
    describe('whose answers are refused', () => {
      beforeAll(() => proxy.be(() => 'too many'))
      lookAt(failing)
    })
  },
)

/** What a browser without scripts shows: axe is a script, so it could not run there. */
async function asWithoutScripts(route: Route): Promise<void> {
  if (!route.request().isNavigationRequest()) return route.continue()
  const answer = await route.fetch()
  const text = (await answer.text()).replaceAll(
    /<script[^>]*>[\s\S]*?<\/script>|<\/?noscript>/g,
    '',
  )
  await route.fulfill({ response: answer, body: text })
}
