/** The package for TypeScript in a real Chromium, in a page of another origin, as a web project bundles it. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { minuteMs } from '../../core/time.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { anchoredApi } from '../support/anchored-api.ts'
import { chromiumMissing, openChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { readingOf } from '../support/readings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sensor = 'NGR-LOS-IKJ-001' as SensorId
const startMs = Date.UTC(2024, 0, 1)
const count = 2_500
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs
const reason = chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`

/** Our package and what it needs, as one file. */
async function bundled(outDir: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('../../clients/typescript', import.meta.url)),
    build: { outDir, lib: { entry: 'src/index.ts', formats: ['es'], fileName: 'client' } },
  })
  return readFileSync(join(outDir, 'client.js'), 'utf8')
}

/** A site of another owner, which loads the package from itself. */
async function site(script: string) {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/client.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>A site</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server with a port
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** In the page. `air` stays, so that the steps use one client. */
const begin = `async ({ url, key }) => {
  const { airproof, verifyBundle, ApiError } = await import('/client.js')
  globalThis.air = airproof({ url, key })
  globalThis.stranger = airproof({ url, key: 'aqk_' + 'x'.repeat(40) })
  globalThis.ApiError = ApiError
}`
const paging = `async (sensor_id) => {
  const seqs = []
  for await (const { timestamp } of air.readings({ sensor_id, end_time: '2025-01-01', order: 'asc' }))
    seqs.push(timestamp)
  return [seqs.length, new Set(seqs).size, seqs[0], seqs.at(-1)]
}`
const refusal = `async () => {
  try { await stranger.sensors().toArray() } catch (error) {
    return [error instanceof ApiError, error.status, error.code]
  }
}`
const listening = `(sensor_id) => {
  globalThis.seen = []
  void (async () => {
    for await (const event of air.stream({ sensor_id })) if (event.event === 'reading') seen.push(event.data.pm25)
  })()
}`
/** A browser's own EventSource sends no header, so it takes a token. */
const byToken = `async ({ url, sensor_id }) => {
  const { data } = await air.api.POST('/v1/stream/token')
  globalThis.bySource = []
  const source = new EventSource(url + '/v1/stream?sensor_id=' + sensor_id + '&token=' + encodeURIComponent(data.token))
  source.addEventListener('reading', ({ data }) => bySource.push(JSON.parse(data).pm25))
  await new Promise((resolve, reject) => { source.onopen = resolve; source.onerror = reject })
}`
const verification = `async ({ sensor_id, time }) => {
  const { ok, reading, checks } = await air.verify(sensor_id, new Date(time))
  const network = await air.network()
  const other = await air.verify(sensor_id, time, { network, chainId: '1' })
  return [ok, reading.sensor_id, checks.length > 5, other.ok]
}`

test.skipIf(chromiumMissing !== undefined)(
  `in a page it reads all pages, follows the stream by key and by token, and verifies${reason}`,
  async () => {
    using folder = temporaryFolder()
    await using api = await anchoredApi({
      isStarted: false,
      env: { AIRPROOF_SECRET: newSecretKey() },
    })
    const rows = Array.from({ length: count }, (_, i) =>
      readingOf({
        sensor,
        timeMs: startMs + i * minuteMs,
        seq: seqOf(partitionOf(sensor), 1_000_000 + i),
      }),
    )
    await api.store.writeBatch(rows)
    await api.register({ id: sensor })
    await api.commit([{ sensor, timeMs: nowMs - 30 * minuteMs, pm25: 3_000 }])
    await api.startApi()
    await api.anchored()
    await using other = await site(await bundled(join(folder.path, 'bundle')))
    const browser = await openChromium()
    await using _ = { [Symbol.asyncDispose]: () => browser.close() }
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    await page.goto(other.url)
    const run = async (script: string, given: unknown): Promise<unknown> =>
      page.evaluate(`(${script})(${JSON.stringify(given)})`)

    await run(begin, { url: api.url, key: api.key })
    const first = formatIsoMs(startMs)
    const last = formatIsoMs(startMs + (count - 1) * minuteMs)
    expect(await run(paging, sensor)).toEqual([count, count, first, last])
    expect(await run(refusal, null)).toEqual([true, 401, expect.any(String)])
    const time = formatIsoMs(nowMs - 30 * minuteMs)
    expect(await run(verification, { sensor_id: sensor, time })).toEqual([
      true,
      sensor,
      true,
      false,
    ])

    await run(byToken, { url: api.url, sensor_id: sensor })
    await run(listening, sensor)
    let sent = 0
    // the second stream may begin after the first reading
    await eventually('both streams have had a reading', async () => {
      sent++
      await api.commit([{ sensor, timeMs: nowMs - 20 * minuteMs + sent * 1_000, pm25: 100 * sent }])
      return page.evaluate<boolean>('seen.length > 0 && bySource.length > 0')
    })
    expect(await page.evaluate<number>('bySource[0]')).toBe(1)
    expect(complaints).toEqual([])
  },
)
