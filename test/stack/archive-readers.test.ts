/** The archive as analysts read it: over HTTP from the API, with DuckDB, pandas and pyarrow, without a key. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import { siteOf, testApi } from '../support/api.ts'
import { archivedCity } from '../support/archived-city.ts'
import { pythonPackage } from '../support/python-package.ts'

// packages are fetched once per machine
vi.setConfig({ hookTimeout: 600_000, testTimeout: 120_000 })

const opened = new AsyncDisposableStack()
const env = environment()
let url: string
let archive: string
let rows: readonly {
  readonly timeMs: number
  readonly sensor: string
  readonly seq: number
  readonly values: readonly (number | null)[]
}[]

beforeAll(async () => {
  const city = opened.use(await archivedCity())
  archive = join(city.folder, 'archive')
  const sensors = await new Kvm(city.nc).open(buckets.sensors)
  for (const id of new Set(city.log.written.map(({ sensor }) => sensor)))
    await sensors.put(
      id,
      JSON.stringify({
        id,
        cadence_seconds: 60,
        sites: [siteOf('Test')],
        created_at: '2020-01-01T00:00:00Z',
        model: 'SDS011',
      }),
    )
  await city.archive(archive)
  rows = city.log.written
  const api = opened.use(
    await testApi({ env: { AIRPROOF_ARCHIVE_DIR: archive, AIRPROOF_ARCHIVE_OPEN: '1' } }),
  )
  url = api.url
})
afterAll(() => opened.disposeAsync())

/** Read to its end: a body that is not read keeps its connection open. */
const ask = async (address: string, init: RequestInit = {}): Promise<Response> => {
  const answer = await fetch(address, init)
  const body = await answer.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, answer)
}
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(`${url}/archive/${path}`, { headers, method })

type Listed = { readonly path: string; readonly bytes: number; readonly sha256: string }
type Catalogue = {
  readonly runs: readonly { readonly manifest: string; readonly files: readonly Listed[] }[]
  readonly tables: readonly Listed[]
}
const firstFile = async (): Promise<Listed> => {
  const catalogue = (await (await get('catalogue.json')).json()) as Catalogue
  return catalogue.runs[0]!.files[0]!
}

test('DuckDB, pandas and pyarrow read every row over HTTP, with types and days', async (context) => {
  const python = onPath('python3', env) ?? context.skip('Python is not on this machine')
  const wanted = [
    { name: 'pandas', version: '3.1.1', withNeeded: true },
    { name: 'pyarrow', version: '26.0.1' },
    { name: 'duckdb', version: '1.4.4' },
    { name: 'duckdb-ext-httpfs', version: '1.4.4.20260205' },
  ]
  const folders: string[] = []
  for (const one of wanted) {
    const found = await pythonPackage(one, env)
    if ('missing' in found) return context.skip(found.missing)
    folders.push(found.folder)
  }
  const httpfs = join(
    folders.at(-1)!,
    'duckdb_ext/extensions/v1.4.4/linux_amd64/httpfs.duckdb_extension',
  )
  const printed = await runTool(
    python,
    ['test/support/archive/read_archive.py', `${url}/archive`, httpfs],
    { env: { ...env, PYTHONPATH: folders.join(':') }, timeoutMs: 100_000 },
  )
  const hundredths = rows.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)
  const common = {
    first: rows.reduce((least, { timeMs }) => Math.min(least, timeMs), Infinity),
    rows: rows.length,
    pm25: hundredths / 100,
    sensors: new Set(rows.map(({ sensor }) => sensor)).size,
    last_seq: rows.reduce((most, { seq }) => Math.max(most, seq), 0),
  }
  const read = JSON.parse(printed)
  expect(read.pandas).toEqual({
    ...common,
    types: { timestamp: 'datetime64[ms, UTC]', seq: 'int64', pm25: 'float64' },
  })
  expect(read.pyarrow).toEqual({
    rows: common.rows,
    pm25: common.pm25,
    types: { timestamp: 'timestamp[ms, tz=UTC]', seq: 'int64', pm25: 'double', area: 'string' },
  })
  const days = Map.groupBy(rows, ({ timeMs }) => new Date(timeMs).getUTCDate())
  expect(read.duckdb).toEqual({
    ...common,
    days: [...days].map(([day, all]) => [day, all.length]).toSorted(([a = 0], [b = 0]) => a - b),
    joined: common.rows,
  })
})

describe('a file', () => {
  test('has its hash as its tag, is sent in ranges, and repeats as 304', async () => {
    const { path, bytes, sha256 } = await firstFile()
    const whole = await get(path)
    const body = Buffer.from(await whole.arrayBuffer())
    expect([whole.status, body.length, whole.headers.get('etag')]).toEqual([
      200,
      bytes,
      `"${sha256}"`,
    ])
    expect(whole.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(whole.headers.get('access-control-allow-origin')).toBe('*')
    const part = await get(path, { range: 'bytes=4-9' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 4-9/${bytes}`])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(body.subarray(4, 10))
    const tail = await get(path, { range: 'bytes=-4' })
    expect(await tail.text()).toBe('PAR1')
    const again = await get(path, { 'if-none-match': `"${sha256}"` })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const head = await get(path, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes)])
    const outside = await get(path, { range: `bytes=${bytes}-` })
    expect([outside.status, outside.headers.get('content-range')]).toEqual([
      416,
      `bytes */${bytes}`,
    ])
  })

  test('of another version than the client has part of is sent whole', async () => {
    const { path, bytes, sha256 } = await firstFile()
    const other = { range: 'bytes=4-9', 'if-range': `"${'0'.repeat(64)}"` }
    expect((await get(path, other)).status).toBe(200)
    const coded = await get(path, { 'if-none-match': `"${sha256}-gzip"` })
    expect([coded.status, Number(coded.headers.get('content-length'))]).toEqual([200, bytes])
    // tags that are compared for a range are strong
    expect((await get(path, { ...other, 'if-range': `W/"${sha256}"` })).status).toBe(200)
    expect((await get(path, { ...other, 'if-range': `"${sha256}"` })).status).toBe(206)
  })

  test.each(['bytes=9-4', 'bytes=0-1,3-4', 'bytes=a-b', 'lines=1-2', 'bytes=-', 'bytes=1.5-2'])(
    'is sent whole for a range that is none: %s',
    async (range) => {
      const { path } = await firstFile()
      expect((await get(path, { range })).status).toBe(200)
    },
  )

  test('that the catalogue does not list is not served, wherever it is', async () => {
    mkdirSync(join(archive, 'readings/year=2020/month=01/day=01'), { recursive: true })
    const stray = 'readings/year=2020/month=01/day=01/part-9.parquet'
    writeFileSync(join(archive, stray), 'secret')
    writeFileSync(join(archive, 'secret.txt'), 'secret')
    for (const path of [
      stray,
      'secret.txt',
      '.lock',
      '',
      'readings',
      'readings/../secret.txt',
      '..%2farchive%2fsecret.txt',
      '%2e%2e/readings.sqlite',
      'readings%00.parquet',
      '/etc/passwd',
      'catalogue.json/',
    ]) {
      const answer = await get(path)
      expect([path, answer.status]).toEqual([path, answer.status === 400 ? 400 : 404])
      expect(await answer.text()).not.toContain('secret"')
    }
  })

  test('whose size is not as listed is not sent as if it were', async () => {
    const catalogue = (await (await get('catalogue.json')).json()) as Catalogue
    const { path } = catalogue.tables.find((table) => table.path === 'sensors.parquet')!
    const file = join(archive, path)
    const { readFileSync } = await import('node:fs')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(1))
    expect((await get(path)).status).toBe(503)
    writeFileSync(file, bytes)
    expect((await get(path)).headers.get('cache-control')).toBe('public, no-cache')
  })
})

test('the network file says where the archive is', async () => {
  const network = (await (await fetch(`${url}/v1/network`)).json()) as { archive: string }
  expect(network.archive).toMatch(/\/archive\/catalogue\.json$/)
})

test('an archive that is not open needs a key', async () => {
  await using api = await testApi({ env: { AIRPROOF_ARCHIVE_DIR: archive } })
  const address = `${api.url}/archive/catalogue.json`
  expect((await ask(address)).status).toBe(401)
  const asked = await ask(address, { headers: { authorization: `Bearer ${api.key}` } })
  expect(asked.status).toBe(200)
  expect(
    asked.headers.get('x-ratelimit-remaining') ?? asked.headers.get('ratelimit'),
  ).not.toBeNull()
})
