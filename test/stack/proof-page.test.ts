import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { formatIso, formatIsoMs } from '../../core/iso-time.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { tinyPage } from '../support/tiny-page.ts'

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = Math.floor(Date.now() / 1000) * 1000
const link = `/proof/${sensor}/${formatIso(nowMs)}`
const sample = join(import.meta.dirname, '../fixtures/bundles/in-a-city.airproof.json')
const html = { headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } }

let api: AnchoredApi
beforeAll(async () => {
  api = await anchoredApi({
    env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: '1000', AIRPROOF_PUBLIC_URL: 'https://air.example' },
  })
  await api.register({ id: sensor })
  await api.commit([{ sensor, timeMs: nowMs, pm25: null }])
})
afterAll(() => api[Symbol.asyncDispose]())

test('before it is anchored the page says so, and the file is not there yet', async () => {
  const page = await fetch(api.url + link, html)
  expect(page.status).toBe(200)
  expect(await page.text()).toMatch(/data-status="(pending|anchoring)"/)
  const file = await fetch(`${api.url}${link}.airproof.json`, html)
  expect(file.status).toBe(404)
  expect(file.headers.get('retry-after')).toBe('30')
})

test('a link without a key gives people a page and programs the bundle', async () => {
  await api.anchored()
  const page = await eventually('the page says that it is anchored', async () => {
    const answer = await fetch(api.url + link, html)
    const text = await answer.text()
    return text.includes('data-status="verified"') ? { answer, text } : undefined
  })
  expect(page.answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.answer.headers.get('vary')).toBe('Accept, Accept-Encoding')
  expect(page.text).toContain(sensor)
  expect(page.text).toContain('not measured')
  expect(page.text).toContain('Local test chain (31337), not public')
  // which network it is, and the one address to hand on
  expect(page.text).toContain(`${api.deployment.contract}, from block ${api.deployment.block}`)
  const whole = `https://air.example/proof/${sensor}/${encodeURIComponent(formatIsoMs(nowMs))}`
  expect(page.text).toMatch(new RegExp(`>${whole}[?]hash=0x[0-9a-f]{64}</a>`))
  const bundle = await fetch(api.url + link)
  expect(bundle.headers.get('content-type')).toBe('application/json')
  const file = await fetch(`${api.url}${link}.airproof.json`, html)
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="${sensor}_${formatIsoMs(nowMs).replaceAll(':', '-')}.airproof.json"`,
  )
  expect(await file.text()).toBe(await bundle.text())
})

test('the page asks no server but ours, and runs no script but the files it names', async () => {
  const answer = await fetch(api.url + link, html)
  const policy = answer.headers.get('content-security-policy') ?? ''
  const directives = policy.split('; ').map((part) => part.split(' '))
  expect(directives).toContainEqual(['default-src', "'none'"])
  const nodes = ['https:', 'http://127.0.0.1:*', 'http://localhost:*']
  // the script asks the node that the reader names
  for (const [name, ...sources] of directives)
    expect(["'none'", "'self'", ...(name === 'connect-src' ? nodes : [])]).toEqual(
      expect.arrayContaining(sources),
    )
  const text = await answer.text()
  // inline scripts, styles and handlers would not run under it
  expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/)
  const addresses = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  expect(addresses.length).toBeGreaterThan(3)
  for (const address of addresses) {
    expect(address).toMatch(/^\/(?:proof\/|v1\/network$)/)
    const linked = await fetch(api.url + address)
    expect([linked.status, (await linked.text()) === '']).toEqual([200, false])
  }
  const verifier = await fetch(`${api.url}/proof/airproof-verify.js`)
  expect(verifier.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(await verifier.text()).toContain('export')
})

test('the verifier that is served accepts the bundle that is served, and nothing with a byte changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'airproof-page-'))
  try {
    const file = join(folder, 'airproof-verify.mjs')
    writeFileSync(file, await (await fetch(`${api.url}/proof/airproof-verify.js`)).text())
    const { verifyFile } = (await import(
      pathToFileURL(file).href
    )) as typeof import('../../anchor/verifier/airproof-verify.js')
    const bytes = new Uint8Array(await (await fetch(api.url + link)).arrayBuffer())
    expect((await verifyFile(bytes)).ok).toBe(true)
    const accepted: number[] = []
    // every byte of 8 KB takes long: a stride that shares no factor with anything in the format
    for (let at = 0; at < bytes.length; at += 37) {
      const altered = bytes.slice()
      altered[at] = altered[at]! ^ 1
      if ((await verifyFile(altered)).ok) accepted.push(at)
    }
    expect(accepted).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the page’s script shows the proof, refuses a file that was altered, and heeds a block hash', async () => {
  const html = await (await fetch(api.url + link, { headers: { accept: 'text/html' } })).text()
  const page = tinyPage(html)
  const folder = mkdtempSync(join(tmpdir(), 'airproof-page-'))
  const verdict = page.find('verdict')
  const is = (words: string) =>
    eventually(`the page says ${words}`, () => verdict.textContent.includes(words))
  vi.stubGlobal('document', page.document)
  vi.stubGlobal('location', { search: '' })
  const { fetch: plain } = globalThis
  vi.stubGlobal('fetch', (path: string, init?: RequestInit) => plain(new URL(path, api.url), init))
  let copied = ''
  const writeText = async (text: string) => void (copied = text)
  vi.stubGlobal('navigator', { clipboard: { writeText } })
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    for (const name of ['page.js', 'airproof-verify.js'])
      writeFileSync(join(folder, name), await (await plain(`${api.url}/proof/${name}`)).text())
    await import(pathToFileURL(join(folder, 'page.js')).href)
    await is('Consistent – block not confirmed yet, on a local test chain (this reading)')
    expect(verdict.dataset['verdict']).toBe('consistent')
    expect(page.find('checks').children.length).toBeGreaterThan(6)
    expect(page.find('checks').text()).toContain('✓ pins')
    expect(page.find('trusts').text()).toContain('compare it with a source that you trust')

    page.find('link').textContent = 'https://air.example/proof/…'
    page.find('copy').listeners.get('click')?.({})
    await eventually('it is copied', () => page.find('copy').textContent === 'Copied')
    expect(copied).toBe('https://air.example/proof/…')

    const node = page.find('node')
    const checks = page.find('checks')
    node.value = api.anvil.url
    node.listeners.get('change')?.({})
    await eventually('the node is asked', () => checks.text().includes('✓ node'))
    await is('Matches this network and a block you confirmed, on a local test chain')
    // no word of a chain that the operator writes is green
    expect(verdict.dataset['verdict']).toBe('consistent')
    node.value = 'http://127.0.0.1:1'
    node.listeners.get('change')?.({})
    await eventually('the page says that it reached no node', () =>
      page.find('unreached').textContent.includes('http://127.0.0.1:1 cannot be reached'),
    )
    // it was not asked, so it says neither yes nor no
    expect([verdict.dataset['verdict'], checks.text().includes('node:')]).toEqual([
      'consistent',
      false,
    ])
    node.value = ''

    page.find('block').value = `0x${'12'.repeat(32)}`
    page.find('block').listeners.get('change')?.({})
    await is('Not valid')
    page.find('block').value = ''
    const text = await (await plain(api.url + link)).text()
    const dropped = new File([text.replace('"pm10":2000', '"pm10":2001')], 'other.airproof.json')
    const event = { preventDefault: () => undefined, dataTransfer: { files: [dropped] } }
    page.root.listeners.get('drop')?.(event)
    await is('Not valid (other.airproof.json)')
    expect(page.find('checks').text()).toContain('✗ leaf')
    const foreign = new File([readFileSync(sample)], 'foreign.airproof.json')
    page.root.listeners.get('drop')?.({ ...event, dataTransfer: { files: [foreign] } })
    await is('Valid proof, but of another network, on a local test chain (foreign.airproof.json)')
    expect(verdict.dataset['verdict']).toBe('foreign')
  } finally {
    vi.unstubAllGlobals()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a page that cannot reach its server says so, and what to do', async () => {
  const html = await (await fetch(api.url + link, { headers: { accept: 'text/html' } })).text()
  const page = tinyPage(html)
  using folder = temporaryFolder()
  for (const name of ['page.js', 'airproof-verify.js'])
    writeFileSync(join(folder.path, name), await (await fetch(`${api.url}/proof/${name}`)).text())
  writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}')
  vi.stubGlobal('document', page.document)
  vi.stubGlobal('location', { search: '' })
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
  try {
    await import(pathToFileURL(join(folder.path, 'page.js')).href)
    expect(page.find('verdict').textContent).toContain('The server cannot be reached')
    expect(page.find('verdict').dataset['verdict']).toBe('unknown')
  } finally {
    vi.unstubAllGlobals()
  }
})

test('a link that pins a hash answers for that hash alone', async () => {
  const { reading_hash: hash } = (await (await fetch(api.url + link)).json()) as {
    reading_hash: string
  }
  expect((await fetch(`${api.url}${link}?hash=${hash}`)).status).toBe(200)
  const other = await fetch(
    `${api.url}${link}?hash=${hash.replace(/.$/, hash.endsWith('0') ? '1' : '0')}`,
  )
  expect(other.status).toBe(409)
})

test('a client without a key that asks too often must wait, and one with a key need not', async () => {
  const answers = await Promise.all(Array.from({ length: 150 }, () => fetch(api.url + link)))
  const refused = answers.find(({ status }) => status === 429)
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(answers.map(({ status }) => status)).toContain(200)
  const withKey = await api.get(`/v1/readings/${sensor}/proof?timestamp=${formatIso(nowMs)}`)
  expect(withKey.status).toBe(200)
})
