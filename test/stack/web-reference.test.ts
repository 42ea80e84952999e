/** /v1/docs in a real Chromium, under its own policy, and its samples for curl. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { served } from '../../api/openapi/served.ts'
import { onPath } from '../../runtime/engines/tools.ts'
import { chromiumMissing, openChromium } from '../support/chromium.ts'
import { type Customer, type WebhookApi, webhookApi } from '../support/webhook-api.ts'

let api: WebhookApi
let ada: Customer
let browser: Browser | undefined
beforeAll(async () => {
  api = await webhookApi()
  ada = await api.customer()
  await api.register({ id: 'NGR-LOS-IKJ-017' })
  await api.commit([{ sensor: 'NGR-LOS-IKJ-017', timeMs: Date.UTC(2026, 0, 31, 8) }])
  if (chromiumMissing === undefined) browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await api?.[Symbol.asyncDispose]()
})

async function opened({ scripts = true } = {}) {
  const context = await browser!.newContext({ javaScriptEnabled: scripts })
  const page = await context.newPage()
  const seen = { hosts: new Set<string>(), errors: [] as string[] }
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol !== 'data:') seen.hosts.add(host)
  })
  page.on('console', (said) => {
    if (said.type() === 'error') seen.errors.push(said.text())
  })
  page.on('pageerror', (error) => seen.errors.push(String(error)))
  await page.goto(`${api.url}/v1/docs`)
  return { page, seen, [Symbol.asyncDispose]: () => context.close() }
}

test.skipIf(chromiumMissing !== undefined)(
  `the reference has samples, bodies and webhooks, and tries a request out, from one host and without inline styles${chromiumMissing ? `: ${chromiumMissing}` : ''}`,
  async () => {
    await using open = await opened()
    const { page, seen } = open
    const operation = page.locator('#operations-areas-listAreas')
    await operation.waitFor()
    expect(await page.locator('#plain').isVisible()).toBe(false)
    expect(await page.locator('#errors').innerText()).toContain('quota_exceeded')
    expect(await page.locator('body').innerText()).toContain('aqi.high')

    await operation.locator('.opblock-summary-control').click()
    await operation.locator('.samples').waitFor()
    expect(await operation.locator('.samples [role=tab]').allInnerTexts()).toEqual([
      'curl',
      'Python',
      'TypeScript',
      'R',
    ])
    expect(await operation.locator('.samples pre').innerText()).toContain('/v1/areas')
    await operation.locator('.samples [role=tab]').nth(1).click()
    expect(await operation.locator('.samples pre').innerText()).toContain('air.list_areas()')

    await page.locator('.btn.authorize').first().click()
    await page.locator('.modal-ux input').fill(api.key)
    await page.locator('.modal-ux button.authorize').click()
    await page.locator('.modal-ux .btn-done').click()
    await operation.locator('.try-out__btn').click()
    await operation.locator('.execute').click()
    const answer = operation.locator('.live-responses-table .response')
    await answer.waitFor()
    expect(await answer.innerText()).toMatch(/^\s*200[\s\S]*"Ikeja"/)
    expect([...seen.hosts]).toEqual([new URL(api.url).host])
    expect(seen.errors).toEqual([])
  },
)

test.skipIf(chromiumMissing !== undefined)(
  'without scripts the page has every operation with an example',
  async () => {
    await using open = await opened({ scripts: false })
    const text = await open.page.locator('#plain').innerText()
    expect(text).toContain('GET /v1/readings')
    expect(text).toContain('curl -s "$AIRPROOF_URL/v1/areas"')
    expect(open.seen.errors).toEqual([])
  },
)

test('what it loads is compressed, and asked for again only if it has changed', async () => {
  const sizes: Record<string, number> = {}
  for (const name of ['swagger-ui.js', 'swagger-ui.css', 'reference.js', 'reference.css']) {
    const answer = await fetch(`${api.url}/v1/docs/${name}`, {
      headers: { 'accept-encoding': 'br' },
    })
    expect([name, answer.status, answer.headers.get('cache-control')]).toEqual([
      name,
      200,
      'no-cache',
    ])
    sizes[name] = Number(answer.headers.get('content-length'))
    // what is not read keeps its connection
    await answer.arrayBuffer()
    const etag = answer.headers.get('etag') ?? ''
    const again = await fetch(`${api.url}/v1/docs/${name}`, {
      headers: { 'if-none-match': etag, 'accept-encoding': 'br' },
    })
    await again.arrayBuffer()
    expect([name, again.status]).toEqual([name, 304])
  }
  const sum = Object.values(sizes).reduce((all, one) => all + one, 0)
  expect(sum).toBeLessThan(600_000)
})

const run = promisify(execFile)
const { env } = process
const shell = onPath('sh', env)
const hasCurl = shell !== undefined && onPath('curl', env) !== undefined

test.skipIf(!hasCurl)('each sample for curl is a request that the API takes', async () => {
  const statuses: Record<string, string> = {}
  for (const methods of Object.values(served.paths))
    for (const { operationId, 'x-codeSamples': samples } of Object.values(methods)) {
      const [first] = samples
      expect(samples.map(({ label }) => label)).toEqual(['curl', 'Python', 'TypeScript', 'R'])
      // the stream has no end; its head is enough
      const script = `${first?.source} -o /dev/null -w '%{http_code}' --max-time 3 || true`
      const { stdout } = await run(shell ?? '', ['-c', script], {
        env: { ...env, AIRPROOF_URL: api.url, AIRPROOF_KEY: ada.key },
      })
      statuses[operationId] = stdout
    }
  // what a sample names that is not here: its webhook, and the proof of a reading that is not anchored
  const elsewhere = ['404', '503']
  const refused = Object.entries(statuses).filter(
    ([, status]) => !/^20[012]$/.test(status) && !elsewhere.includes(status),
  )
  expect(refused).toEqual([])
  expect(statuses).toMatchObject({ listReadings: '200', stream: '200', createWebhook: '201' })
})
