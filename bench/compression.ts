/**
 * What compression costs beside what it saves: `node bench/compression.ts [--requests 400]` prints
 * one JSON document.
 *
 * - `answers`: CPU of only the server per answer over HTTP, in turns of one run: as it is, in each
 * coding, and 304.
 * - `levels`: CPU and bytes of the page of 1,000 readings at each level of each coding, by which those
 * in `api/http/coding.ts` were chosen.
 */
import { Agent, get } from 'node:http'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { key } from './api-city.ts'
import { startServer } from './api-client.ts'

const { values: flags } = parseArgs({ options: { requests: { type: 'string', default: '400' } } })
const requests = Number(flags.requests)
const turns = 5
const round = (value: number, to = 10): number => Math.round(value * to) / to

const agent = new Agent({ keepAlive: true, maxSockets: 4 })
type Received = { readonly body: Buffer; readonly etag: string | undefined }

function ask(url: string, headers: Readonly<Record<string, string>>): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const all = { authorization: `Bearer ${key}`, ...headers }
  get(url, { agent, headers: all }, (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('end', () => resolve({ body: Buffer.concat(parts), etag: response.headers.etag }))
  }).on('error', reject)
  return promise
}

async function benchAnswers(path: string) {
  await using server = await startServer('./api-ours.ts', [1_000])
  const url = server.url + path
  const { body, etag = '' } = await ask(url, {})
  const cases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    plain: {},
    gzip: { 'accept-encoding': 'gzip' },
    br: { 'accept-encoding': 'br' },
    zstd: { 'accept-encoding': 'zstd' },
    ...(etag !== '' && { 'not modified': { 'if-none-match': etag } }),
  }
  const costs = new Map<string, number[]>()
  for (let turn = 0; turn <= turns; turn++) {
    for (const [name, headers] of Object.entries(cases)) {
      const before = await server.cpuUs()
      for (let i = 0; i < requests / turns; i++) await ask(url, headers)
      const cost = ((await server.cpuUs()) - before) / (requests / turns)
      // the first turn is for the compiler
      if (turn > 0) costs.set(name, [...(costs.get(name) ?? []), cost])
    }
  }
  const rows = Object.entries(cases).map(async ([name, headers]) => {
    const bytes = (await ask(url, headers)).body.length
    // the other work of the machine can only add
    const cpuUs = round(Math.min(...(costs.get(name) ?? [])))
    return [name, { cpuUs, bytes, percent: round((bytes / body.length) * 100) }] as const
  })
  return { rows: Object.fromEntries(await Promise.all(rows)), body }
}

const packers: Readonly<Record<string, (body: Buffer) => Buffer>> = Object.fromEntries([
  ...[1, 4, 6].map((level) => [`gzip ${level}`, (body: Buffer) => gzipSync(body, { level })]),
  ...[1, 2, 4, 5].map((quality) => [
    `br ${quality}`,
    (body: Buffer) =>
      brotliCompressSync(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: quality,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      }),
  ]),
  ...[1, 3, 6].map((level) => [
    `zstd ${level}`,
    (body: Buffer) =>
      zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
  ]),
])

function benchLevels(body: Buffer) {
  const times = 30
  const rows = Object.entries(packers).map(([name, pack]) => {
    for (let i = 0; i < 5; i++) pack(body)
    const before = process.cpuUsage()
    for (let i = 0; i < times; i++) pack(body)
    const { user, system } = process.cpuUsage(before)
    const percent = round((pack(body).length / body.length) * 100)
    return [name, { cpuMs: round((user + system) / times / 1_000, 100), percent }]
  })
  return Object.fromEntries(rows)
}

const readings = await benchAnswers('/v1/readings?limit=1000')
const few = await benchAnswers('/v1/readings?limit=10')
const sensors = await benchAnswers('/v1/sensors?limit=100')
agent.destroy()
const result = {
  bench: 'compression',
  node: process.version,
  answers: {
    '1,000 readings': readings.rows,
    '10 readings': few.rows,
    '100 sensors': sensors.rows,
  },
  levels: benchLevels(readings.body),
}
console.log(JSON.stringify(result, null, 2))
