/** The archive as analysts read it: over HTTP from the API, with DuckDB, pandas and pyarrow, without a key. */
import { hash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { dayMs } from '../../core/time.ts'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import { siteOf, testApi } from '../support/api.ts'
import { archivedCity } from '../support/archived-city.ts'
import { pythonPackage } from '../support/python-package.ts'

// packages are fetched once per machine
vi.setConfig({ hookTimeout: 600_000 })

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
    await testApi({
      env: {
        AIRPROOF_ARCHIVE_DIR: archive,
        AIRPROOF_ARCHIVE_OPEN: '1',
        AIRPROOF_DATA_LICENCE: 'CC-BY-4.0',
      },
    }),
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

type Listed = {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly rows: number
}
type Catalogue = {
  readonly runs: readonly { readonly manifest: string; readonly files: readonly Listed[] }[]
  readonly tables: readonly Listed[]
}
const firstFile = async (): Promise<Listed> => {
  const catalogue = (await (await get('catalogue.json')).json()) as Catalogue
  return catalogue.runs[0]!.files[0]!
}

/** What is installed for Python, or why it is not. */
async function readers(): Promise<
  { readonly python: string; readonly path: string; readonly httpfs: string } | string
> {
  const python = onPath('python3', env)
  if (python === undefined) return 'Python is not on this machine'
  const wanted = [
    { name: 'pandas', version: '3.1.1', withNeeded: true },
    { name: 'pyarrow', version: '26.0.1' },
    { name: 'duckdb', version: '1.4.4' },
    { name: 'duckdb-ext-httpfs', version: '1.4.4.20260205' },
  ]
  const folders: string[] = []
  for (const one of wanted) {
    const found = await pythonPackage(one, env)
    if ('missing' in found) return found.missing
    folders.push(found.folder)
  }
  const extension = 'duckdb_ext/extensions/v1.4.4/linux_amd64/httpfs.duckdb_extension'
  return { python, path: folders.join(':'), httpfs: join(folders.at(-1)!, extension) }
}

const dayOf = (days: number): string =>
  new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)

/** Those of a page that are for the archive, for this one and its days. */
function recipesOf(file: string, language: string): readonly string[] {
  const page = readFileSync(file, 'utf8')
  const begin = dayOf(-30)
  return [...page.matchAll(/^```(\S+) archive\n([^`]*)```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = '']) =>
      text
        .replaceAll('https://air.example/', `${url}/`)
        .replaceAll(/'2026-11-01'|2026-02-28/g, (date) =>
          date.startsWith("'") ? `'${begin}'` : begin,
        )
        .replaceAll(/2026-11-30|2026-03-31|2026-04-01/g, dayOf(2))
        .replaceAll('"2024-"', `"${dayOf(-1).slice(0, 2)}"`),
    )
}

test.for(['docs/archive.md', 'docs/analysts.md'])(
  'every recipe of %s for DuckDB and pandas finds something',
  async (file, context) => {
    const found = await readers()
    if (typeof found === 'string') return context.skip(found)
    const recipes = ['sql', 'python'].flatMap((kind) =>
      recipesOf(file, kind).map((text) => ({ kind, text })),
    )
    expect(recipes.length).toBeGreaterThanOrEqual(2)
    const list = join(archive, '..', 'recipes.json')
    writeFileSync(list, JSON.stringify(recipes))
    const printed = await runTool(
      found.python,
      ['test/support/archive/run_recipes.py', found.httpfs, list],
      { env: { ...env, PYTHONPATH: found.path }, timeoutMs: 100_000 },
    )
    const rowsOf: readonly number[] = JSON.parse(printed)
    expect(recipes.filter((_, at) => !((rowsOf[at] ?? 0) > 0))).toEqual([])
  },
)

test.for(['docs/archive.md', 'docs/analysts.md'])(
  'every recipe of %s for R works',
  async (file, context) => {
    const rscript = onPath('Rscript', env)
    if (rscript === undefined) return context.skip('R is not on this machine')
    const needed = 'q(status = !all(sapply(c("arrow", "dplyr", "jsonlite"), requireNamespace)))'
    const tool = { env, timeoutMs: 100_000 }
    const isThere = await runTool(rscript, ['-e', needed], tool).then(
      () => true,
      () => false,
    )
    if (!isThere) return context.skip('R has no arrow, dplyr and jsonlite on this machine')
    const script = join(archive, '..', 'recipes.R')
    writeFileSync(script, `${recipesOf(file, 'r').join('\n')}\ncat(length(ls()))`)
    expect(Number(await runTool(rscript, [script], tool))).toBeGreaterThan(0)
  },
)

test('DuckDB, pandas and pyarrow read every row over HTTP, with types and days', async (context) => {
  const found = await readers()
  if (typeof found === 'string') return context.skip(found)
  const printed = await runTool(
    found.python,
    ['test/support/archive/read_archive.py', `${url}/archive`, found.httpfs],
    { env: { ...env, PYTHONPATH: found.path }, timeoutMs: 100_000 },
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

describe('a citation of a period', () => {
  const period = `from=${dayOf(-30)}&to=${dayOf(2)}`

  test('has a hash that anyone can check against the files', async () => {
    const cited = (await (await get(`cite?${period}`)).json()) as Record<string, string>
    expect(cited['citation']).toContain(`SHA-256 ${cited['sha256']}. `)
    const sums = await (await get(`cite?${period}&format=sums`)).text()
    expect(hash('sha256', sums)).toBe(cited['sha256'])
    const lines = sums.trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(2)
    for (const line of lines) {
      const [sum, path = ''] = line.split('  ')
      expect(hash('sha256', Buffer.from(await (await get(path)).arrayBuffer()))).toBe(sum)
    }
    // what the citation leads to says the same for ever
    const link = new URL(cited['sums']!)
    expect(link.searchParams.get('runs')).toBe('1')
    const again = await get(`cite${link.search}`)
    expect(hash('sha256', await again.text())).toBe(cited['sha256'])
  })

  test('of days without a reading there is none', async () => {
    const none = await get('cite?from=2001-01-01&to=2001-01-02')
    expect([none.status, await none.text()]).toEqual([
      404,
      expect.stringContaining('the archive has no reading from 2001-01-01 to 2001-01-02'),
    ])
  })

  test('is a page with a form, which needs no script', async () => {
    const html = { accept: 'text/html' }
    const form = await get('cite', html)
    expect([form.status, form.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    expect(form.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action/)
    expect(await form.text()).toContain('<form action="/archive/cite">')
    expect(await (await get(`cite?${period}`, html)).text()).toContain('<cite id="citation">')
  })

  test.for([
    ['', /from is missing: give a UTC day/],
    ['from=2026-02-30&to=2026-03-01', /from must be a UTC day/],
    ['from=2026-03-02&to=2026-03-01', /to must be from or a later day/],
    ['from=2026-03-01&to=2026-03-02&runs=99', /runs must be a whole number from 1 to 1/],
    ['from=<script>&to=2026-03-02', /from must be a UTC day/],
  ] as const)('by %s is refused in words', async ([query, why]) => {
    const refused = await get(`cite?${query}`)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringMatching(why)])
  })
})

test('validators of others find no fault in its descriptions, and read every row by them', async (context) => {
  const python = onPath('python3', env) ?? context.skip('Python is not on this machine')
  const folders: string[] = []
  for (const one of [
    { name: 'frictionless', version: '5.21.0', withNeeded: true },
    { name: 'mlcroissant', version: '1.1.1', withNeeded: true, fromSource: ['jsonpath-rw'] },
    { name: 'pyarrow', version: '26.0.1' },
  ]) {
    const found = await pythonPackage(one, env)
    if ('missing' in found) return context.skip(found.missing)
    folders.push(found.folder)
  }
  const copy = join(archive, '../described')
  cpSync(archive, copy, { recursive: true })
  const validated = async (by: 'frictionless' | 'croissant') =>
    JSON.parse(
      await runTool(python, ['test/support/archive/validate_archive.py', by, copy], {
        env: { ...env, PYTHONPATH: folders.join(':') },
        timeoutMs: 100_000,
      }),
    )
  const catalogue = JSON.parse(readFileSync(join(copy, 'catalogue.json'), 'utf8')) as Catalogue
  const files = [...catalogue.runs.flatMap((run) => run.files), ...catalogue.tables]
  expect(await validated('frictionless')).toEqual({
    valid: true,
    errors: [],
    rows: Object.fromEntries(
      files.map(({ path, rows: count }) => [
        path.replace('.parquet', '').replaceAll('=', '-'),
        count,
      ]),
    ),
  })
  const hundredths = rows.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)
  expect(await validated('croissant')).toEqual({
    errors: [],
    rows: rows.length,
    pm25: hundredths / 100,
    files: files.length,
  })
  // they do compare
  const schema = join(copy, 'schemas/readings.json')
  writeFileSync(schema, readFileSync(schema, 'utf8').replace('"co2"', '"co3"'))
  const { valid, errors } = await validated('frictionless')
  expect([valid, errors]).toEqual([
    false,
    expect.arrayContaining([['incorrect-label', expect.any(String)]]),
  ])
  // three starts of Python with large packages, and the first time their installation
})

describe('a file', () => {
  test('names its licence, as the catalogue and a citation do', async () => {
    const { path } = await firstFile()
    for (const place of [path, 'catalogue.json', `cite?from=${dayOf(-30)}&to=${dayOf(2)}`])
      expect((await get(place)).headers.get('link')).toBe(
        '<https://spdx.org/licenses/CC-BY-4.0>; rel="license"',
      )
  })

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
