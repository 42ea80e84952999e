/**
 * Pictures of every page, on a phone and on a desk, light and dark:
 * `npm run bench -- pictures [--out DIR] [--data DIR] [--only city,proof] [--language fr]
 * [--widths 390,1440] [--schemes light,dark] [--before DIR]`.
 *
 * `--tokens FILE` draws only the tokens of `docs/design.md`, into that file.
 *
 * `--data` is the data folder of a running instance; without it one with 40 simulated sensors is
 * started, and stopped at the end. With `--before`, a folder of earlier pictures, each page that is
 * in both is also drawn twice in one picture, `<page>-<width>-<scheme>.pair.jpg`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type RunningInstance, readRunningInstance } from '../runtime/machine/running-instance.ts'
import { openChromium } from '../test/support/chromium.ts'
import { eventually } from '../test/support/eventually.ts'
import { runCity } from '../test/support/running-city.ts'

const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: 'pictures' },
    data: { type: 'string' },
    only: { type: 'string' },
    language: { type: 'string', default: 'en' },
    widths: { type: 'string', default: '390,1440' },
    schemes: { type: 'string', default: 'light,dark' },
    before: { type: 'string' },
    tokens: { type: 'string' },
  },
})

type Visit = {
  readonly name: string
  readonly path: (seen: Seen) => string
  readonly isSignedIn?: boolean
}
/** What the instance has already. */
type Seen = { readonly sensor: string; readonly proof: string }

const visits: readonly Visit[] = [
  { name: 'city', path: () => '/' },
  { name: 'sensor', path: ({ sensor }) => `/sensors/${sensor}` },
  { name: 'proof', path: ({ proof }) => proof },
  { name: 'proof-file', path: () => '/proof' },
  { name: 'about', path: () => '/about' },
  { name: 'method', path: () => '/about/method' },
  { name: 'login', path: () => '/login' },
  { name: 'signup', path: () => '/signup' },
  { name: 'nothing', path: () => '/nothing-here' },
  { name: 'keys', path: () => '/settings/keys', isSignedIn: true },
  { name: 'usage', path: () => '/settings/usage', isSignedIn: true },
  { name: 'webhooks', path: () => '/settings/webhooks', isSignedIn: true },
  { name: 'settings', path: () => '/settings/account', isSignedIn: true },
  { name: 'account', path: () => '/account', isSignedIn: true },
  { name: 'operator', path: () => '/operator', isSignedIn: true },
]

if (flags.tokens !== undefined) {
  await drawTokens(resolve(flags.tokens))
  process.exit(0)
}
const out = resolve(flags.out)
mkdirSync(out, { recursive: true })
await using opened = new AsyncDisposableStack()
const { data, instance } = await instanceOf(flags.data)
const dashboard = instance.dashboard ?? ''
const browser = await openChromium()
opened.defer(() => browser.close())
const seen = await whatIsThere(instance)
// the demonstration's own account, which may see all pages
execFileSync(process.execPath, [
  'bin/airproof.mjs',
  'accounts',
  'role',
  instance.account.email,
  'operator',
  '--data',
  data,
])
const wanted = flags.only?.split(',')
for (const scheme of flags.schemes.split(','))
  for (const width of flags.widths.split(',')) {
    await using window = await openWindow(browser, Number(width), scheme)
    let isSignedIn = false
    for (const visit of visits.filter(({ name }) => wanted?.includes(name) ?? true)) {
      if (visit.isSignedIn === true && !isSignedIn) {
        await signIn(window.page)
        isSignedIn = true
      }
      await window.page.goto(dashboard + visit.path(seen))
      await atRest(window.page)
      const file = join(out, `${visit.name}-${width}-${scheme}.png`)
      await window.page.screenshot({ path: file, fullPage: true })
      process.stdout.write(`${file}\n`)
      if (flags.before !== undefined) await pair(browser, resolve(flags.before), file)
    }
  }

/** All of `tokens.css`, light beside dark, as one small picture. */
async function drawTokens(file: string): Promise<void> {
  const of = (name: string): string =>
    readFileSync(`dashboard/web/${name}`).toString(name.endsWith('woff2') ? 'base64' : 'utf8')
  const css = of('public/tokens.css').replace(
    '../fonts/inter.woff2',
    `data:font/woff2;base64,${of('fonts/inter.woff2')}`,
  )
  const names = [...css.matchAll(/^ {2}(--[\w-]+): (?:#|rgb)/gm)].map(([, name = '']) => name)
  const plain = [...new Set(names)].filter((name) => !name.startsWith('--cat-'))
  const kinds = [...new Set(names.map((name) => /^--cat-([a-z_]+)$/.exec(name)?.[1]))]
  const swatch = (name: string): string =>
    `<li><i style="background:var(${name})"></i>${name.slice(2)}</li>`
  const category = (name: string): string =>
    `<li style="background:var(--cat-${name}-soft);color:var(--cat-${name}-text)"><b style="background:var(--cat-${name});color:var(--cat-${name}-ink);border:2px solid var(--cat-${name}-ring)">128</b>${name}</li>`
  const browser = await openChromium()
  const pictures: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: { width: 720, height: 900 }, colorScheme })
    await page.setContent(`<style>${css}
      body{margin:0;padding:24px;background:var(--bg);color:var(--text);font:16px/1.4 var(--font);font-variant-numeric:tabular-nums}
      ul{list-style:none;padding:0;display:grid;grid-template-columns:repeat(4,1fr);gap:8px;font-size:13px}
      i{display:block;height:32px;border-radius:8px;border:1px solid var(--edge)} .c li{padding:8px;border-radius:14px}
      b{display:inline-block;padding:2px 10px;border-radius:99px;margin-right:6px} p{margin:0}</style>
      <p style="font-size:var(--size-hero);font-weight:650;line-height:1.1">64 <span style="font-size:var(--size-title)">32</span>
      <span style="font-size:var(--size-lead)">18 Ẹ̀kọ́ · Ƙano · Ụmụahịa</span> <span style="font-size:16px">16</span>
      <span style="font-size:13px;font-weight:400">13 · 0123456789 µg/m³</span></p>
      <ul>${plain.map(swatch).join('')}</ul>
      <ul class="c" style="grid-template-columns:repeat(2,1fr)">${kinds.flatMap((name) => (name === undefined ? [] : [category(name)])).join('')}</ul>`)
    await page.evaluate('document.fonts.ready')
    pictures.push((await page.screenshot({ fullPage: true })).toString('base64'))
  }
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.setContent(
    `<body style="margin:0;display:flex">${pictures.map((data) => `<img src="data:image/png;base64,${data}">`).join('')}</body>`,
  )
  mkdirSync(join(file, '..'), { recursive: true })
  await page.screenshot({ path: file, type: 'jpeg', quality: 72, fullPage: true })
  await browser.close()
}

/** One that runs, or one of our own with some minutes of readings in it. */
async function instanceOf(
  folder: string | undefined,
): Promise<{ readonly data: string; readonly instance: RunningInstance }> {
  if (folder !== undefined) {
    const running = readRunningInstance(folder)
    if (running === undefined) throw new Error(`nothing runs on ${folder}: start \`airproof up\``)
    return { data: folder, instance: running }
  }
  const own = mkdtempSync(join(tmpdir(), 'airproof-pictures-'))
  opened.defer(() => rmSync(own, { recursive: true, force: true }))
  const city = opened.use(
    await runCity(join(own, 'data'), {
      flags: ['--demo', '40'],
      env: { ANCHOR_INTERVAL: '5s' },
    }),
  )
  return { data: join(own, 'data'), instance: city.instance }
}

type Anchored = {
  readonly timestamp: string
  readonly blockchain: { readonly verified: boolean; readonly hash: string }
}

/** A sensor with readings, and a reading of it whose proof is complete. */
async function whatIsThere({ api, key }: RunningInstance): Promise<Seen> {
  const ask = async (path: string) => {
    const answer = await fetch(api + path, { headers: { authorization: `Bearer ${key}` } })
    return JSON.parse(await answer.text())
  }
  return await eventually(
    'a reading is anchored',
    async () => {
      const { sensors = [] } = await ask('/v1/sensors?limit=5')
      for (const { id: sensor } of sensors) {
        const { readings = [] } = await ask(`/v1/readings?sensor_id=${sensor}&limit=1000`)
        const anchored: Anchored | undefined = readings.find(
          (reading: Anchored) => reading.blockchain.verified,
        )
        if (anchored === undefined) continue
        const { timestamp, blockchain } = anchored
        return { sensor, proof: `/proof/${sensor}/${timestamp}?hash=${blockchain.hash}` }
      }
      return undefined
    },
    { withinMs: 180_000, everyMs: 2_000 },
  )
}

async function openWindow(
  of: Browser,
  width: number,
  scheme: string,
): Promise<AsyncDisposable & { readonly context: BrowserContext; readonly page: Page }> {
  const context = await of.newContext({
    viewport: { width, height: width < 700 ? 844 : 900 },
    deviceScaleFactor: width < 700 ? 2 : 1,
    colorScheme: scheme === 'dark' ? 'dark' : 'light',
    reducedMotion: 'reduce',
    timezoneId: 'Africa/Lagos',
  })
  await context.addCookies([{ name: 'lang', value: flags.language, url: dashboard }])
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  return { context, page, [Symbol.asyncDispose]: () => context.close() }
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${dashboard}/login`)
  await page.locator('#email').fill(instance.account.email)
  await page.locator('#password').fill(instance.account.password)
  await page.locator('main form button').click()
  await page.waitForURL((url) => url.pathname !== '/login')
}

/** Its heading is there, nothing loads, and its charts and its map were drawn. */
async function atRest(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  // what is below the window is loaded when it comes into view
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await page.waitForTimeout(500)
  // a page that still loads after ten seconds is drawn as the reader sees it
  await page
    .locator('.loading')
    .first()
    .waitFor({ state: 'detached', timeout: 10_000 })
    .catch(() => undefined)
  await page.evaluate('scrollTo(0, 0)')
  await page.evaluate('document.fonts.ready')
  await page.waitForTimeout(2_500)
}

/** The same page before and after, side by side: drawn by the browser, as a small picture. */
async function pair(of: Browser, before: string, after: string): Promise<void> {
  const name = after.slice(out.length + 1)
  const former = join(before, name)
  if (!existsSync(former)) return
  const asImage = (file: string): string =>
    `<img src="data:image/png;base64,${readFileSync(file).toString('base64')}">`
  const page = await of.newPage({ viewport: { width: 1200, height: 800 } })
  await page.setContent(
    `<body style="margin:0;display:flex;gap:16px;align-items:start;background:#888">
     <style>img{width:592px}</style>${asImage(former)}${asImage(after)}</body>`,
  )
  const picture = await page.screenshot({ type: 'jpeg', quality: 70, fullPage: true })
  writeFileSync(after.replace(/\.png$/, '.pair.jpg'), picture)
  await page.close()
}
