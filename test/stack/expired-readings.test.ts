/** Readings whose rows were let go: every read of a store gives the same as before, from the archive. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import type { Reading } from '../../core/air/reading.ts'
import { toHex } from '../../core/hex.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { openExpired } from '../../operate/archive/open-expired.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { Retention } from '../../schemas/retention.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import type { Cursor, Order, Store } from '../../store/store.ts'
import { type ArchivedCity, archivedCity, todayMs } from '../support/archived-city.ts'

const opened = new AsyncDisposableStack()
const keccak = await createKeccak()
let city: ArchivedCity
let archive: string
/** Has everything, as before. */
let full: Store
/** Has what was measured since the border, and one older reading that is archived too. */
let left: Store
let rows: readonly Reading[]
/** Readings of both leaf versions are before it, and some of today after. */
const borderMs = todayMs
const retention: Retention = { rawBeforeMs: borderMs, blobsBeforeBatch: 1_000_000, run: 2 }
const expired = (folder: string, of = retention, atOnce: 'batch' | 'run' = 'batch') =>
  openExpired({ folder, keccak, retention: () => of, atOnce })

beforeAll(async () => {
  city = opened.use(await archivedCity())
  // late ones, of yesterday and the day before, that come into a run of their own
  archive = join(city.folder, 'archive')
  await city.archive(archive)
  await city.log.write({
    partition: 3,
    readings: 40,
    arrivedMs: todayMs - dayMs + hourMs,
    leafVersion: 2,
  })
  // not later than now: nothing is anchored before it arrives
  const arrivedMs = Math.min(todayMs + hourMs, Date.now())
  await city.log.write({ partition: 5, readings: 20, arrivedMs, leafVersion: 2 })
  await city.settle()
  await city.archive(archive, { days: 2 })
  // only in the store: it came after the last run
  await city.log.write({
    partition: 7,
    readings: 3,
    arrivedMs: todayMs - 5 * hourMs,
    leafVersion: 2,
  })
  await city.settle()
  full = city.store
  rows = city.log.written
  left = opened.use(await openSqliteStore({ file: join(city.folder, 'left.sqlite') }))
  const old = rows.filter(({ timeMs }) => timeMs < borderMs)
  await left.writeBatch([
    ...rows.filter((row) => row.timeMs >= borderMs),
    ...rows.slice(-3),
    ...old.slice(100, 101),
  ])
})
afterAll(() => opened.disposeAsync())

const days = () => rows.map(({ timeMs }) => timeMs)
/** Leaf 1 proves no area and no flags. */
const comparable = (list: readonly Reading[]) =>
  list.map((row) => (row.leafVersion === 2 ? row : { ...row, area: '', flags: 0 }))

async function pages(store: Store, limit: number, order: Order): Promise<Reading[]> {
  const all: Reading[] = []
  let cursor: Cursor | undefined
  for (;;) {
    const page = await store.rangeAll(0, Number.MAX_SAFE_INTEGER, limit, cursor, order)
    all.push(...page)
    cursor = page.at(-1)
    if (page.length < limit) return all
  }
}

test('the run that holds late readings is a second one, and some days have two files', async () => {
  const { runs } = (await readCatalogue(archive))!
  expect(runs).toHaveLength(2)
  const ofDay = runs.flatMap(({ files }) => files.map(({ day }) => day))
  expect(ofDay.length).toBeGreaterThan(new Set(ofDay).size)
  expect(Math.min(...days())).toBeLessThan(borderMs)
  expect(Math.max(...days())).toBeGreaterThan(borderMs)
})

describe.each(['asc', 'desc'] as const)('in order %s', (order) => {
  test.each([7, 500, 5_000])(
    'pages of %i rows go over the border with no row twice and none left out',
    async (limit) => {
      const store = expired(archive).store(left)
      const wanted = await pages(full, limit, order)
      expect(comparable(await pages(store, limit, order))).toEqual(comparable(wanted))
    },
  )
  test('pages of one sensor do too', async () => {
    const store = expired(archive).store(left)
    for (const sensor of new Set(rows.map((row) => row.sensor))) {
      const all: Reading[] = []
      let [fromMs, toMs] = [0, Number.MAX_SAFE_INTEGER]
      for (;;) {
        const page = await store.range(sensor, fromMs, toMs, 11, order)
        all.push(...page)
        const last = page.at(-1)
        if (last === undefined) break
        if (order === 'asc') fromMs = last.timeMs + 1
        else toMs = last.timeMs
      }
      const wanted = await full.range(sensor, 0, Number.MAX_SAFE_INTEGER, 10_000, order)
      expect(comparable(all)).toEqual(comparable(wanted))
    }
  })
})

test('one reading, its signature and what exists under a key are the same', async () => {
  const store = expired(archive).store(left)
  const keys = [...rows, { sensor: rows[0]!.sensor, timeMs: 12_345 }]
  const existing = await store.existing(keys)
  const wanted = await full.existing(keys)
  expect(comparable(existing.slice(0, -1).map((row) => row!))).toEqual(
    comparable(wanted.slice(0, -1).map((row) => row!)),
  )
  expect(existing.at(-1)).toBeUndefined()
  const signed = rows.filter(({ device }) => device !== undefined).slice(0, 5)
  expect(signed).toHaveLength(5)
  for (const { sensor, timeMs } of [...signed, rows[0]!]) {
    expect(comparable([(await store.at(sensor, timeMs))!])).toEqual(
      comparable([(await full.at(sensor, timeMs))!]),
    )
    expect(await store.signature(sensor, timeMs)).toEqual(await full.signature(sensor, timeMs))
  }
})

test('hours that are computed again have the archived readings as well', async () => {
  const store = expired(archive).store(left)
  const [fromMs, toMs] = [borderMs - 3 * dayMs, borderMs + dayMs]
  for (const size of ['hour', 'day'] as const) {
    expect(await store.computeBuckets(wholeNetwork, fromMs, toMs, size)).toEqual(
      await full.computeBuckets(wholeNetwork, fromMs, toMs, size),
    )
    const sensors = [...new Set(rows.map(({ sensor }) => sensor))]
    const inOrder = (list: Awaited<ReturnType<Store['computeSensors']>>) =>
      list.toSorted((a, b) => a.startMs - b.startMs || (a.sensor < b.sensor ? -1 : 1))
    expect(inOrder(await store.computeSensors(sensors, fromMs, toMs, size))).toEqual(
      inOrder(await full.computeSensors(sensors, fromMs, toMs, size)),
    )
  }
  expect(await store.computeOverall(wholeNetwork, fromMs, toMs)).toEqual(
    await full.computeOverall(wholeNetwork, fromMs, toMs),
  )
})

test.each(['batch', 'run'] as const)(
  'the leaves that the rows give, a %s at once, are those that were published',
  async (atOnce) => {
    const blobs = await openBatchBlobs(city.nc)
    const nothing = { top: async () => undefined, tile: async () => undefined }
    const archived = expired(archive, retention, atOnce).blobs(nothing)
    const { end } = (await readCatalogue(archive))!
    for (let index = 1; index <= end.batch; index++) {
      const [top, wanted] = [await archived.top(index), await blobs.top(index)]
      // heartbeats at the end of a contract are in no manifest
      if (wanted?.leaves === 0 && top === undefined) continue
      const parts = ({ leaves, roots, firsts }: NonNullable<typeof top>) => ({
        leaves,
        roots: roots.map(toHex),
        firsts: firsts.map(toHex),
      })
      expect(parts(top!)).toEqual(parts(wanted!))
      for (let tile = 0; tile <= wanted!.roots.length; tile++)
        expect((await archived.tile(index, tile))?.map(toHex)).toEqual(
          (await blobs.tile(index, tile))?.map(toHex),
        )
    }
  },
)

describe('an archive that cannot answer says so', () => {
  const damaged = (change: (folder: string) => void): Store => {
    const folder = join(city.folder, `damaged-${Math.random()}`)
    cpSync(archive, folder, { recursive: true })
    change(folder)
    return expired(folder).store(left)
  }
  const fileOf = async () => (await readCatalogue(archive))!.runs[0]!.files[0]!.path
  const asks = (store: Store) => store.rangeAll(0, borderMs, 100_000)

  test('its folder is gone', async () => {
    const store = damaged((folder) => rmSync(folder, { recursive: true }))
    await expect(asks(store)).rejects.toThrow(/only in the archive.*catalogue\.json is missing/)
    // what the store has is answered
    expect(await store.rangeAll(borderMs, Number.MAX_SAFE_INTEGER, 10)).toHaveLength(10)
  })
  test('a file of it is missing', async () => {
    const path = await fileOf()
    const store = damaged((folder) => rmSync(join(folder, path)))
    await expect(asks(store)).rejects.toThrow(`${path} is missing`)
  })
  test('a byte of a file was changed, also after it was read', async () => {
    const path = await fileOf()
    let place = ''
    const store = damaged((folder) => {
      place = join(folder, path)
    })
    expect((await asks(store)).length).toBeGreaterThan(1_000)
    const bytes = readFileSync(place)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(place, bytes)
    await expect(asks(store)).rejects.toThrow(/a byte of it was changed/)
  })
  test('it is an older copy', async () => {
    const later = { ...retention, run: 3 }
    await expect(asks(expired(archive, later).store(left))).rejects.toThrow(
      /ends with run 2, .* in run 3/,
    )
  })
  test('a run is missing in its catalogue', async () => {
    const store = damaged((folder) => {
      const file = join(folder, 'catalogue.json')
      const catalogue = JSON.parse(readFileSync(file, 'utf8')) as { runs: unknown[] }
      writeFileSync(file, JSON.stringify({ ...catalogue, runs: catalogue.runs.slice(1) }))
    })
    await expect(asks(store)).rejects.toThrow(/run 1 is not in the catalogue/)
  })
})
