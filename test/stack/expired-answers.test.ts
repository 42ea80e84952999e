/** After retention every link still answers: over HTTP, as an export and in the audit. */
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { verifyBundle } from '../../anchor/verifier/airproof-verify.js'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as exportCommand } from '../../cli/export/export.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import type { Reading } from '../../core/air/reading.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { readRetention } from '../../runtime/nats/retention.ts'
import { retentionText } from '../../schemas/retention.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type RetentionCity, retentionCity } from '../support/retention-city.ts'
import { runCommand } from '../support/run-command.ts'

const run = promisify(execFile)
const opened = new AsyncDisposableStack()
const [days, rawDays] = [10, 3]
let lived: RetentionCity
let api: TestApi
/** Of an expired day: every fifth is signed by its device. */
let old: readonly Reading[]
/** It came a week later, and is in another run. */
let late: Reading
/** It came after the last run, for an expired day. */
let latest: Reading
let before: ReadonlyMap<string, string>
let rowsBefore: readonly unknown[]
let statisticsBefore: string

const verifyPath = ({ sensor, timeMs }: Reading): string =>
  `/v1/readings/${sensor}/verify?timestamp=${formatIsoMs(timeMs)}`
const proofPath = ({ sensor, timeMs }: Reading): string =>
  `/v1/readings/${sensor}/proof?timestamp=${formatIsoMs(timeMs)}`
const openPath = ({ sensor, timeMs }: Reading): string =>
  `/proof/${sensor}/${formatIsoMs(timeMs)}.airproof.json`

type Page = {
  readonly readings: readonly Record<string, unknown>[]
  readonly next_cursor: string | null
}
async function allPages(query: string): Promise<readonly Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const answer = await api.get(`/v1/readings?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    expect(answer.status).toBe(200)
    const page = (await answer.json()) as Page
    rows.push(...page.readings)
    cursor = page.next_cursor
  }
  return rows
}
/** What does not depend on when it is asked. */
const lasting = (body: string): unknown => {
  const {
    verified_at: _,
    chain_checked_at: _c,
    ledger,
    ...rest
  } = JSON.parse(body) as {
    verified_at: string
    chain_checked_at: string
    ledger: { finalized: unknown } | null
  }
  return { ...rest, ledger: { ...ledger, finalized: null } }
}
const everything = (order: string) => `limit=97&order=${order}&start_time=2020-01-01T00:00:00Z`
/** The day of a reading, of its sensor. */
const dayPath = ({ sensor }: Reading): string =>
  `/v1/sensors/${sensor}/statistics?interval=day&start_time=${formatIsoMs(lived.firstMs)}&end_time=${formatIsoMs(lived.firstMs + dayMs)}`
const firstPath = async (): Promise<string> =>
  (await readCatalogue(lived.folder))!.runs[0]!.files[0]!.path

beforeAll(async () => {
  lived = opened.use(await retentionCity(days, { rawDays, blobDays: rawDays, perDay: 200 }))
  const { city } = lived
  await lived.live(days)
  await lived.archive()
  late = await lived.late(2)
  await lived.settle()
  await lived.archive()
  const ofFirstDay = city.log.written.filter(({ timeMs }) => timeMs < lived.firstMs + dayMs)
  old = [...ofFirstDay.slice(3, 9), ...ofFirstDay.slice(120, 123), late]
  api = opened.use(
    await testApi({
      at: {
        nats: city.nats,
        store: city.store,
        storeFile: city.storeFile,
        folder: city.folder,
      },
      env: { AIRPROOF_ARCHIVE_OPEN: 'yes' },
    }),
  )
  for (const id of new Set(city.log.written.map(({ sensor }) => sensor))) await api.register({ id })
  await eventually('the chain is checked, and all sensors are known', async () => {
    const answer = await api.get(verifyPath(old[0]!))
    return (
      answer.status === 200 && ((await answer.json()) as { status: string }).status === 'verified'
    )
  })
  const answers = new Map<string, string>()
  for (const reading of old)
    for (const path of [verifyPath, proofPath, openPath])
      answers.set(path(reading), await (await api.get(path(reading))).text())
  before = answers
  rowsBefore = await allPages(everything('asc'))
  statisticsBefore = await (await api.get(dayPath(old[0]!))).text()
  await lived.expire(lived.expiry({ blobDays: undefined }))
  // batches are sealed now, whatever the time of their readings
  const later = Date.now() + 30 * dayMs
  await lived.expire(lived.expiry({ rawDays: undefined }), later)
  // what it has in memory is not what the store has
  await api.stopApi()
  await api.startApi()
  latest = await lived.late(1)
  await lived.settle()
})
afterAll(() => opened.disposeAsync())

test('rows and leaves are gone', async () => {
  const { rawBeforeMs, blobsBeforeBatch } = await readRetention(lived.city.nc)
  expect(rawBeforeMs).toBe(lived.firstMs + (days - rawDays) * dayMs)
  expect(blobsBeforeBatch).toBeGreaterThan(1)
  for (const { sensor, timeMs } of old)
    expect(await lived.city.store.at(sensor, timeMs)).toBeUndefined()
})

test('verify, proof and the open link answer as before, a bundle byte for byte', async () => {
  expect(before.size).toBe(3 * old.length)
  expect(old.some(({ device }) => device !== undefined)).toBe(true)
  for (const [path, body] of before) {
    const answer = await api.get(path)
    expect([path, answer.status]).toEqual([path, 200])
    const text = await answer.text()
    const of = path.includes('/verify') ? lasting : (same: string) => same
    expect(of(text)).toEqual(of(body))
  }
  expect(await (await api.get(verifyPath(latest))).json()).toMatchObject({ status: 'verified' })
})

test('a bundle that is made now is proven by both verifiers, and the page of the reading works', async () => {
  const files: string[] = []
  for (const [at, reading] of old.entries()) {
    const text = await (await api.get(openPath(reading))).text()
    const { checks } = await verifyBundle(text)
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
    const file = join(lived.city.folder, `bundle-${at}.airproof.json`)
    writeFileSync(file, text)
    files.push(file)
  }
  const { stdout } = await run('python3', ['examples/verify-python/verify.py', ...files])
  expect(stdout.match(/: proven, on a demonstration chain/g)).toHaveLength(old.length)
  const [reading] = old
  const page = await api.get(`/proof/${reading!.sensor}/${formatIsoMs(reading!.timeMs)}`, {
    headers: { accept: 'text/html' },
  })
  expect(await page.text()).toContain('data-status="verified"')
})

describe('readings', () => {
  test.each(['asc', 'desc'])(
    'pages go over the border, order %s: each once and as before',
    async (order) => {
      const rows = await allPages(everything(order))
      const inOrder = order === 'asc' ? rows : rows.toReversed()
      const key = (row: unknown): string => JSON.stringify(row)
      const added = rows.filter(({ timestamp }) => timestamp === formatIsoMs(latest.timeMs))
      expect(added).toHaveLength(1)
      expect(
        inOrder
          .map(key)
          .filter((row) => row !== key(added[0]))
          .toSorted(),
      ).toEqual(rowsBefore.map(key).toSorted())
      expect(inOrder.map((row) => row['timestamp'])).toEqual(
        inOrder
          .map((row) => String(row['timestamp']))
          .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
      )
    },
  )
  test('pages of one sensor do too', async () => {
    const { sensor } = old[0]!
    const of = (rows: readonly unknown[]) =>
      (rows as Record<string, unknown>[]).filter((row) => row['sensor_id'] === sensor)
    for (const order of ['asc', 'desc']) {
      const rows = await allPages(`sensor_id=${sensor}&limit=2&order=${order}`)
      const inOrder = order === 'asc' ? rows : rows.toReversed()
      expect(inOrder).toEqual(of(rowsBefore).map((row) => ({ ...(row as object) })))
    }
  })
  test('statistics of an expired day are made of hours and days, and say so', async () => {
    const days = (await (await api.get(dayPath(old[0]!))).json()) as object
    expect(days).toEqual({ ...(JSON.parse(statisticsBefore) as object), basis: 'readings' })
    const halfHour = await api.get(`${dayPath(old[0]!)}&timezone=Asia/Kolkata`)
    const { basis, statistics } = (await halfHour.json()) as {
      basis: string
      statistics: { start_time: string; coverage: { observed: number } }[]
    }
    // a day that begins at 18:30 begins with the hour that is kept
    expect([basis, ...statistics.map((step) => step.start_time.slice(11, 16))]).toEqual([
      'hourly_means',
      '00:00',
      '18:00',
    ])
    expect(statistics.reduce((sum, { coverage }) => sum + coverage.observed, 0)).toBe(4)
  })
})

test('an export of an expired period is the same file as before, and is verified', async () => {
  const out = join(lived.city.folder, 'export.ndjson')
  const env = { NATS_URL: lived.city.natsUrl, AIRPROOF_DATA: lived.city.folder }
  const flags = {
    from: formatIsoMs(lived.firstMs),
    to: formatIsoMs(lived.firstMs + (days - 1) * dayMs),
    out,
  }
  const made = await runCommand(exportCommand, { env, flags })
  expect([made.code, made.err]).toEqual([0, expect.stringContaining('what proves them')])
  const rows = readFileSync(out, 'utf8').trim().split('\n')
  // with both late ones
  expect(rows).toHaveLength(200 * (days - 1) + 2)
  const checked = await runCommand(verifyCommand, { words: [`${out}.manifest.json`] })
  expect([checked.code, checked.out]).toEqual([0, expect.stringContaining('PROVEN')])
})

describe('the audit', () => {
  const audited = async (
    more: Record<string, string | boolean> = {},
    env: Record<string, string> = {},
  ) => {
    const { city } = lived
    const { code, out, err } = await runCommand(auditCommand, {
      flags: { json: true, ...more },
      env: {
        NATS_URL: city.natsUrl,
        CHAIN_RPC_URL: city.rpc,
        AIRPROOF_DATA: city.folder,
        ...env,
      },
    })
    return { code, err, report: out === '' ? undefined : (JSON.parse(out) as AuditReport) }
  }
  const copyOf = (name: string): string => {
    const folder = join(lived.city.folder, name)
    cpSync(lived.folder, folder, { recursive: true })
    return folder
  }

  test('counts what the archive shows as expired, and finds nothing missing', async () => {
    const { code, report } = await audited()
    expect([code, report?.findings]).toEqual([0, []])
    expect(report?.rows).toMatchObject({
      archived: 200 * (days - rawDays) + 1,
      not_checked: 0,
      expired: 0,
    })
    expect(report?.leaves).toBe(report?.readings)
  })
  test('without an archive says that they were not checked, and is not green', async () => {
    const { code, report } = await audited(
      {},
      { AIRPROOF_ARCHIVE_DIR: join(lived.city.folder, 'none') },
    )
    expect(code).toBe(1)
    expect(report?.findings.map(({ kind }) => kind)).toEqual(['not_checked'])
    expect(report?.rows?.not_checked).toBeGreaterThan(200 * (days - rawDays))
  })
  test('finds what neither store nor archive has, though the record calls it expired', async () => {
    const { city } = lived
    const writer = opened.use(await openSqliteStore({ file: city.storeFile }))
    const { sensor, timeMs, seq } = latest
    await writer.deleteReadings([{ sensor, lastSeq: seq }], timeMs, timeMs + 1)
    const { code, report } = await audited()
    expect([code, report?.findings.map(({ kind }) => kind)]).toEqual([1, ['missing']])
    await writer.writeBatch([latest])
    expect((await audited()).code).toBe(0)
  })
  test('finds what the store must have, though the archive has it', async () => {
    const { city, system } = lived
    const writer = opened.use(await openSqliteStore({ file: city.storeFile }))
    const { sensor, timeMs, seq } = city.log.written.findLast(
      (row) => row.leafVersion === 2 && row.seq !== late.seq && row.seq !== latest.seq,
    )!
    const [row] = await city.store.range(sensor, timeMs, timeMs + 1, 1)
    expect(row?.seq).toBe(seq)
    await writer.deleteReadings([{ sensor, lastSeq: seq }], timeMs, timeMs + 1)
    const honest = await audited()
    expect(honest.report?.findings.map(({ kind }) => kind)).toEqual(['missing'])
    // the record proves nothing: what it calls expired is shown by the archive, or missing
    const former = (await system.get(systemKeys.retention))!.string()
    const all = { ...(await readRetention(city.nc)), rawBeforeMs: Date.now() + dayMs }
    await system.put(systemKeys.retention, retentionText(all))
    const widened = await audited()
    await system.put(systemKeys.retention, former)
    expect([widened.code, widened.report?.rows?.archived]).toEqual([
      0,
      1 + (honest.report?.rows?.archived ?? 0),
    ])
    await writer.writeBatch([row!])
    expect((await audited()).code).toBe(0)
  })
  test('compares the statistics of what was let go with the archive', async () => {
    const { store, storeFile } = lived.city
    // the made-up rows do not follow the rules: more than a report lists
    const total = async () => (await audited({ deep: true })).report?.findings_total ?? 0
    const honest = await total()
    const [area] = new Set(old.map((row) => row.area))
    const [day] = await store.areaDays(area!, lived.firstMs, lived.firstMs + dayMs)
    const writer = opened.use(await openSqliteStore({ file: storeFile }))
    await writer.writeAreaDays([{ ...day!, readings: day!.readings - 1 }])
    expect(await total()).toBe(honest + 1)
    await writer.writeAreaDays([day!])
    expect(await total()).toBe(honest)
    // a day that cannot be read is not called wrong
    const folder = copyOf('without-a-day')
    rmSync(join(folder, await firstPath()))
    const { report, err } = await audited({ deep: true, 'archive-dir': folder })
    expect(err).toBe('')
    expect(JSON.stringify(report)).toMatch(/statistics of .* were not compared/)
  })
  test('a row that was dropped from the archive is a finding', async () => {
    const folder = copyOf('changed')
    const path = await firstPath()
    rmSync(join(folder, path))
    const { code, report } = await audited({ 'archive-dir': folder })
    expect(code).toBe(1)
    const kinds = new Set(report?.findings.map(({ kind }) => kind))
    expect(kinds).toEqual(new Set(['archive', 'missing', 'not_checked']))
  })
})

describe('an archive that cannot be read', () => {
  const refused = async (path: string) => {
    const answer = await api.get(path)
    return [
      answer.status,
      ((await answer.json()) as { error: { code: string; message: string } }).error,
    ] as const
  }
  const other = formatIsoMs
  test('a file is missing: 503 that says so, and what the store has is answered', async () => {
    const path = join(lived.folder, await firstPath())
    renameSync(path, `${path}.away`)
    try {
      const [day, next] = [lived.firstMs, lived.firstMs + dayMs].map(other)
      expect(await refused(`/v1/readings?start_time=${day}&end_time=${next}`)).toEqual([
        503,
        expect.objectContaining({
          code: 'archive_unavailable',
          message: expect.stringMatching(
            /only in the archive.*part-1\.parquet is missing/,
          ) as string,
        }),
      ])
      const newest = await api.get('/v1/readings?limit=5')
      expect(newest.status).toBe(200)
    } finally {
      renameSync(`${path}.away`, path)
    }
  })
  test('its folder is gone: proof and verify say so', async () => {
    renameSync(lived.folder, `${lived.folder}.away`)
    try {
      for (const path of [verifyPath(old[0]!), openPath(old[0]!)])
        expect(await refused(path)).toEqual([
          503,
          expect.objectContaining({
            code: 'archive_unavailable',
            message: expect.stringContaining('catalogue.json is missing') as string,
          }),
        ])
    } finally {
      renameSync(`${lived.folder}.away`, lived.folder)
    }
    expect((await api.get(verifyPath(old[0]!))).status).toBe(200)
  })
})
