import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { valueOf } from '../../core/air/values.ts'
import { feedRows } from '../../store/sqlite/feed-rows.ts'
import { openSqliteFile } from '../../store/sqlite/file.ts'
import { migrate, missingColumns } from '../../store/sqlite/migrate.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { sqliteStats } from '../../store/sqlite/stats.ts'
import { noValues } from '../../store/stat-fields.ts'
import { givenUp, type Store, StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'
import { readingOf } from '../support/readings.ts'
import { batchOf } from './store-batches.ts'
import { anyBatch, reading, sensorId } from './store-rows.ts'
import { plainStats } from './store-statistics.ts'

const early = Date.UTC(2015, 0, 1)
const late = Date.UTC(2031, 0, 1)
const migratorFile = fileURLToPath(new URL('./store-migrator.ts', import.meta.url))
const writerFile = fileURLToPath(new URL('./store-writer.ts', import.meta.url))

function newFolder(): Disposable & { readonly path: string; readonly file: string } {
  const path = mkdtempSync(join(tmpdir(), 'airproof-sqlite-'))
  return {
    path,
    file: join(path, 'readings.db'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  }
}

type Writer = AsyncDisposable & {
  /** Every line so far: `acknowledged 0`. */
  readonly printed: readonly string[]
  /** Resolves when it has printed this number of lines. */
  readonly hasSaid: (lines: number) => Promise<void>
  readonly kill: () => Promise<void>
  readonly exited: Promise<number | null>
}

/** @param under a shell command that runs the writer, its words in `"$@"` */
function startWriter(args: readonly string[], under?: string): Writer {
  const command = [process.execPath, writerFile, ...args]
  const child: ChildProcess =
    under === undefined
      ? spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
      : spawn('sh', ['-c', under, 'sh', ...command], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed: string[] = []
  const waiting: { lines: number; resolve: () => void }[] = []
  createInterface({ input: child.stdout! }).on('line', (line) => {
    printed.push(line)
    for (const { lines, resolve } of waiting) if (printed.length >= lines) resolve()
  })
  const exited = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  return {
    printed,
    hasSaid: async (lines) => {
      if (printed.length >= lines) return
      await Promise.race([
        new Promise<void>((resolve) => void waiting.push({ lines, resolve })),
        exited.then((code) => {
          throw new Error(`the writer ended with ${code} after ${printed.length} lines`)
        }),
      ])
    },
    kill,
    exited,
    [Symbol.asyncDispose]: kill,
  }
}

const acknowledged = (printed: readonly string[]): number[] =>
  printed.flatMap((line) => (line.startsWith('acknowledged ') ? [Number(line.split(' ')[1])] : []))

const plain = (value: number) => ({
  mean: value,
  min: value,
  max: value,
  p50: value,
  p98: value,
})

const stored = async (store: Store, sensor: number): Promise<number> =>
  (await store.range(sensorId(sensor), early, late, 1_000_000)).length

describe('several processes on one SQLite file', () => {
  test('that start on a new file at once and write together lose nothing', async () => {
    using folder = newFolder()
    const writers = [1, 2, 3].map((n) => startWriter([folder.file, String(n), '15', '200']))
    await using mine = await openSqliteStore({ file: folder.file })
    for (let n = 0; n < 15; n++) await mine.writeBatch(batchOf(4, n, 200))
    expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0])
    for (const n of [1, 2, 3, 4]) {
      const rows = Array.from({ length: 15 }, (_, batch) => batchOf(n, batch, 200)).flat()
      expect(await mine.existing(rows)).toEqual(rows)
    }
  })

  test('a sensor and an area that another process adds first are the same sensor and area', async () => {
    using folder = newFolder()
    await using one = await openSqliteStore({ file: folder.file })
    await using other = await openSqliteStore({ file: folder.file })
    const rows = batchOf(1, 0, 4)
    for (const [i, row] of rows.entries()) await (i % 2 === 0 ? one : other).writeBatch([row])
    await one.writeAreaHours([plainStats('Yaba', early, rows)])
    await other.writeBatch([reading({ sensor: sensorId(2), area: 'Yaba' })])
    for (const store of [one, other]) {
      expect(await store.range(sensorId(1), early, late, 9)).toEqual(rows.toReversed())
      expect((await store.computeOverall('Yaba', early, late))?.readings).toBe(1)
      expect((await store.areaHours('Yaba', early, late)).length).toBe(1)
    }
  })

  test('a reader sees each batch whole or not at all, while it is being written', async () => {
    using folder = newFolder()
    await using writer = await openSqliteStore({ file: folder.file })
    await using reader = await openSqliteStore({ file: folder.file, readOnly: true })
    const seen = new Set([await stored(reader, 1)])
    let batches = 0
    // until the reader has looked at several moments of it
    const written = (async () => {
      while (seen.size < 5 && batches < 1000) await writer.writeBatch(batchOf(1, batches++, 500))
    })()
    while (seen.size < 5 && batches < 1000) seen.add(await stored(reader, 1))
    await written
    expect(seen.size).toBe(5)
    expect([...seen].filter((count) => count % 500 !== 0)).toEqual([])
    expect(await stored(reader, 1)).toBe(batches * 500)
  })

  test('a reader that starts before the writer waits for the file, and needs no restart', async () => {
    using folder = newFolder()
    await using reader = await openSqliteStore({ file: folder.file, readOnly: true })
    await expect(reader.ping()).rejects.toThrow(StoreUnavailable)
    await expect(reader.latest(sensorId(1), 1)).rejects.toThrow(StoreUnavailable)
    await using writer = await openSqliteStore({ file: folder.file })
    await writer.writeBatch([reading()])
    await reader.ping()
    expect(await reader.latest(sensorId(1), 1)).toEqual([reading()])
  })

  test('a reader cannot write', async () => {
    using folder = newFolder()
    await using writer = await openSqliteStore({ file: folder.file })
    await using reader = await openSqliteStore({ file: folder.file, readOnly: true })
    await expect(reader.writeBatch([reading()])).rejects.toThrow(StoreMisconfigured)
    expect(await writer.rangeAll(early, late, 9)).toEqual([])
  })

  test('a writer killed at any moment loses no batch it acknowledged, and tears none', async () => {
    using folder = newFolder()
    for (const afterLines of [1, 4, 9]) {
      const sensor = 10 + afterLines
      await using writer = startWriter([folder.file, String(sensor), '100000', '150'])
      await writer.hasSaid(afterLines)
      await writer.kill()
      await using store = await openSqliteStore({ file: folder.file })
      const rows = acknowledged(writer.printed).flatMap((n) => batchOf(sensor, n, 150))
      expect(rows.length).toBeGreaterThan(0)
      expect(await store.existing(rows)).toEqual(rows)
      expect((await stored(store, sensor)) % 150).toBe(0)
    }
  })
})

describe('a full disk', () => {
  // a process whose files may not outgrow 2 MB is as good as a full disk;
  // a batch of 90,000 rows does not fit, the small ones before and after it do
  test.skipIf(process.platform === 'win32')(
    'refuses a batch whole, and takes the next that fits',
    async () => {
      using folder = newFolder()
      const limited = `trap '' XFSZ; ulimit -f 4096; exec "$@"`
      await using writer = startWriter([folder.file, '1', '5', '100,90000'], limited)
      expect(await writer.exited).toBe(0)
      expect(writer.printed).toEqual([
        'acknowledged 0',
        'unavailable 1',
        'acknowledged 2',
        'unavailable 3',
        'acknowledged 4',
      ])
      await using store = await openSqliteStore({ file: folder.file })
      const kept = [0, 2, 4].flatMap((n) => batchOf(1, n, 100))
      expect(await store.range(sensorId(1), early, late, 99_999)).toEqual(kept.toReversed())
      // with room again, the batch that was refused goes in as it is
      await store.writeBatch(batchOf(1, 1, 90_000))
      expect(await stored(store, 1)).toBe(90_300)
    },
  )
})

describe('a file of an earlier version', () => {
  const made01 = (file: string): void => {
    const db = new DatabaseSync(file)
    db.exec(readFileSync(new URL('../fixtures/store-0.1.sql', import.meta.url), 'utf8'))
    db.close()
  }
  const [first, second] = [
    reading(),
    readingOf({
      timeMs: Date.UTC(2026, 2, 1, 12) + 1e3,
      pm10: 0,
      temperature: -150,
      aqi: 0,
      flags: 512,
      seq: 2,
    }),
  ]

  test('is brought up when its writer opens it, in lines, and holds what it held', async () => {
    using folder = newFolder()
    made01(folder.file)
    const notices: string[] = []
    await using store = await openSqliteStore({
      file: folder.file,
      onNotice: (line) => void notices.push(line),
    })
    expect(await store.existing([first, second])).toEqual([first, second])
    expect(notices.at(0)).toContain('table reading gets 14 columns (schema 1 to 7)')
    expect(notices.at(-1)).toBe(`${folder.file} is of schema version 7 now`)
    const [hour] = await store.areaHours('Ikeja', early, late)
    expect(hour?.fields.pm25).toEqual({ ...noValues, ...plain(45.3), n: 1 })
    expect(hour?.fields.no2.n).toBe(0)
    expect(hour?.failed).toBeNull()

    const more = readingOf({ ...first, timeMs: first.timeMs + 9, pressure: 101_325, noise: 5_210 })
    await store.writeBatch([more])
    expect(await store.existing([more])).toEqual([more])
    using db = openSqliteFile(folder.file, true)
    expect(db.all('select pressure, noise from readings where pressure is not null')).toEqual([
      [1013.25, 52.1],
    ])
    expect(db.all('select pm25_mean, noise_n from area_hours')).toEqual([[45.3, 0]])
  })

  test('of schema 4 has hours of sensors, which do not know what failed', async () => {
    using folder = newFolder()
    const { sensor, timeMs } = first
    {
      await using store = await openSqliteStore({ file: folder.file })
      await store.writeBatch([first])
      await store.writeAreaHours(await store.computeBuckets('Ikeja', timeMs, timeMs + 1, 'hour'))
      await store.writeSensorHours(await store.computeSensors([sensor], timeMs, timeMs + 1, 'hour'))
    }
    const db = new DatabaseSync(folder.file)
    for (const table of ['area_hour', 'area_day', 'sensor_hour', 'sensor_day'])
      db.exec(`drop view ${table}s`)
    for (const table of ['area_hour', 'area_day', 'sensor_hour', 'sensor_day'])
      db.exec(`alter table ${table} drop column failed`)
    db.exec('pragma user_version = 4')
    db.close()
    const notices: string[] = []
    await using store = await openSqliteStore({
      file: folder.file,
      onNotice: (line) => void notices.push(line),
    })
    expect(notices.filter((line) => line.includes('gets 1 columns'))).toHaveLength(4)
    const [hour] = await store.areaHours('Ikeja', early, late)
    expect(hour).toMatchObject({ readings: 1, failed: null })
    const [step] = await store.statistics({
      of: { sensors: [sensor] },
      edges: [timeMs, timeMs + 3_600_000],
      steps: [0],
      fields: ['pm25'],
      from: 'hour',
      unwritten: new Set(),
      writtenFromMs: 0,
    })
    expect(step).toMatchObject({ readings: 1, leftOut: null, fields: { pm25: { n: 1 } } })
    using file = openSqliteFile(folder.file, true)
    expect(file.all('select distinct failed from sensor_hours')).toEqual([[null]])
  })

  test('is unavailable to a reader until its writer has brought it up', async () => {
    using folder = newFolder()
    made01(folder.file)
    await using reader = await openSqliteStore({ file: folder.file, readOnly: true })
    await expect(reader.existing([first])).rejects.toThrow(StoreUnavailable)
    await expect(reader.existing([first])).rejects.toThrow(
      'is of schema version 1, this airproof needs 7: its pipeline brings it up when it starts',
    )
    await using writer = await openSqliteStore({ file: folder.file })
    expect(await reader.existing([first])).toEqual([first])
    expect(await writer.existing([first])).toEqual([first])
  })

  test('of a shorter table of quantities gets the columns that it lacks', async () => {
    using folder = newFolder()
    {
      await using store = await openSqliteStore({ file: folder.file })
      await store.writeBatch([first])
    }
    {
      const db = new DatabaseSync(folder.file)
      db.exec('drop view readings; drop view signatures')
      db.exec('drop view area_hours; drop view area_days')
      db.exec('alter table reading drop column noise')
      db.close()
    }
    const loud = readingOf({ ...first, timeMs: first.timeMs + 1, noise: 5_210 })
    await using store = await openSqliteStore({ file: folder.file })
    await store.writeBatch([loud])
    expect(await store.existing([first, loud])).toEqual([first, loud])
  })

  test.each([1, 2, 3, 4])(
    'whose writer is killed at step %i of bringing it up is as before, and is brought up later',
    async (step) => {
      using folder = newFolder()
      made01(folder.file)
      const { signal } = spawnSync(process.execPath, [migratorFile, folder.file, String(step)])
      expect(signal).toBe('SIGKILL')
      const columnsOf = (db: DatabaseSync): unknown =>
        db.prepare("select count(*) n from pragma_table_info('reading')").get()?.['n']
      {
        using db = new DatabaseSync(folder.file)
        expect(db.prepare('pragma user_version').get()).toEqual({ user_version: 1 })
        expect(columnsOf(db)).toBe(11)
      }
      await using store = await openSqliteStore({ file: folder.file })
      expect(await store.existing([first, second])).toEqual([first, second])
      using db = new DatabaseSync(folder.file, { readOnly: true })
      expect(db.prepare('pragma user_version').get()).toEqual({ user_version: 7 })
    },
  )

  test('without room beside it stays as it is, and the error says what to do', () => {
    using folder = newFolder()
    made01(folder.file)
    using db = new DatabaseSync(folder.file)
    const missing = missingColumns(db)
    const printed: string[] = []
    const bringUp = (freeBytes: number): void =>
      migrate(
        db,
        { file: folder.file, from: 1, missing, freeBytes },
        (line) => void printed.push(line),
      )
    expect(() => bringUp(64 * 1024 * 1024 - 1)).toThrow(StoreMisconfigured)
    expect(() => bringUp(0)).toThrow(
      'is of schema version 1 and is to be brought up to 7: make room first, 64 MiB are needed beside it',
    )
    expect([printed, missingColumns(db)]).toEqual([[], missing])
    bringUp(64 * 1024 * 1024)
    expect(missingColumns(db)).toEqual([])
  })

  test('that two writers open at once is brought up once', async () => {
    using folder = newFolder()
    made01(folder.file)
    const notices: string[] = []
    const open = () =>
      openSqliteStore({ file: folder.file, onNotice: (line) => void notices.push(line) })
    await using one = await open()
    await using other = await open()
    expect(await one.existing([first])).toEqual(await other.existing([first]))
    expect(notices.filter((line) => line.endsWith('now'))).toHaveLength(1)
  })
})

describe('a file that cannot be used', () => {
  const afterwards = (file: string, sql: string): void => {
    using db = openSqliteFile(file, false)
    db.run(sql)
  }
  const unusable: [string, (file: string) => void, RegExp][] = [
    [
      'is no SQLite file',
      (file) => writeFileSync(file, 'not a database, but long enough to look like one'.repeat(99)),
      /damaged or no SQLite file/,
    ],
    [
      'belongs to another program',
      (file) => afterwards(file, 'pragma application_id = 7'),
      /belongs to another program/,
    ],
    [
      'was made by a newer airproof',
      (file) => afterwards(file, 'pragma user_version = 99'),
      /schema version 99, and this airproof reads it up to 7: use the airproof that wrote it/,
    ],
  ]
  test.each(unusable)('because it %s says so and names it', async (_, spoil, words) => {
    using folder = newFolder()
    spoil(folder.file)
    const before = await readFile(folder.file)
    for (const readOnly of [false, true]) {
      const opening = openSqliteStore({ file: folder.file, readOnly })
      await expect(opening).rejects.toThrow(StoreMisconfigured)
      await expect(opening).rejects.toThrow(words)
      await expect(opening).rejects.toThrow(folder.file)
    }
    // not a byte of it was changed
    expect(await readFile(folder.file)).toEqual(before)
  })

  test('because its folder is not there says so', async () => {
    using folder = newFolder()
    const file = join(folder.path, 'missing', 'readings.db')
    const opening = openSqliteStore({ file })
    await expect(opening).rejects.toThrow(StoreMisconfigured)
    await expect(opening).rejects.toThrow(/folder must exist/)
  })

  test('because pages of it were overwritten is reported when they are read', async () => {
    using folder = newFolder()
    {
      await using store = await openSqliteStore({ file: folder.file })
      await store.writeBatch(batchOf(1, 0, 5000))
    }
    {
      await using handle = await open(folder.file, 'r+')
      const { size } = await handle.stat()
      // all but the first pages, which hold the schema
      await handle.write(Buffer.alloc(size - 131_072, 0xa5), 0, size - 131_072, 131_072)
    }
    await using store = await openSqliteStore({ file: folder.file })
    const asked = store.range(sensorId(1), early, late, 10_000)
    await expect(asked).rejects.toThrow(StoreMisconfigured)
    await expect(asked).rejects.toThrow(/restore it from a backup/)
  })
})

describe('the SQLite store', () => {
  test('leaves no connection and no log behind when it is closed', async () => {
    using folder = newFolder()
    {
      await using store = await openSqliteStore({ file: folder.file })
      await store.writeBatch([reading()])
      await store.latest(sensorId(1), 1)
      await store.computeOverall(wholeNetwork, early, late)
      expect(readdirSync(folder.path).length).toBeGreaterThan(1)
    }
    // SQLite removes its log with the last connection, and only then
    expect(readdirSync(folder.path)).toEqual(['readings.db'])
  })

  test('answers what was asked before it was closed, and nothing after', async () => {
    using folder = newFolder()
    const store = await openSqliteStore({ file: folder.file })
    const asked = [store.writeBatch([reading()]), store.latest(sensorId(2), 1)]
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()])
    expect(await Promise.all(asked)).toEqual([[], []])
    await expect(store.latest(sensorId(1), 1)).rejects.toThrow(/is closed/)
  })

  test('answers for the newest reading while statistics are being computed', async () => {
    using folder = newFolder()
    await using store = await openSqliteStore({ file: folder.file })
    for (let n = 0; n < 4; n++) await store.writeBatch(batchOf(1, n, 25_000))
    // each thread is at work before the race begins
    await store.computeOverall(wholeNetwork, early, early + 1)
    await store.latest(sensorId(1), 1)
    // far more work than a slow disk needs for a write; what is left of it is given up
    const asked = 500
    let computed = 0
    const giveUp = new AbortController()
    const statistics = Array.from({ length: asked }, async () => {
      await store.within(giveUp.signal).computeOverall(wholeNetwork, early, late)
      computed++
    })
    const settled = Promise.allSettled(statistics)
    await Promise.all([store.latest(sensorId(1), 1), store.writeBatch(batchOf(2, 0, 1))])
    expect(computed).toBeLessThan(asked)
    giveUp.abort()
    await settled
  })

  test('shows analysts ids, units and ISO times that are exact', async () => {
    using folder = newFolder()
    const rows = fc.sample(anyBatch, { numRuns: 1, seed: 5 }).flat()
    {
      await using store = await openSqliteStore({ file: folder.file })
      await store.writeBatch(rows)
      await store.writeAreaHours([plainStats('Yaba', Date.UTC(2026, 0, 1), rows)])
    }
    using db = openSqliteFile(folder.file, true)
    const shown = new Set(
      db
        .all('select sensor_id, area, time, time_ms, pm25, temperature, aqi, seq from readings')
        .map((row) => JSON.stringify(row)),
    )
    const wanted = rows.map((row) => {
      const time = new Date(row.timeMs).toISOString()
      const [pm25, temperature] = (['pm25', 'temperature'] as const)
        .map((name) => valueOf(row.values, name))
        .map((v) => (v === null ? v : v / 100))
      return [row.sensor, row.area, time, row.timeMs, pm25, temperature, row.aqi, row.seq]
    })
    expect(shown).toEqual(new Set(wanted.map((row) => JSON.stringify(row))))
    expect(db.all('select area, time, readings from area_hours')).toEqual([
      ['Yaba', '2026-01-01T00:00:00.000Z', rows.length],
    ])
  })
})

test('statistics that nobody waits for are left between two rows, and the file is as before', async () => {
  using folder = newFolder()
  const rows = Array.from({ length: 10_000 }, (_, i) =>
    reading({ timeMs: early + i * 1_000, seq: 1 + i }),
  )
  {
    await using store = await openSqliteStore({ file: folder.file })
    await store.writeBatch(rows)
  }
  using db = openSqliteFile(folder.file, true)
  let looks = 0
  let isWanted = false
  const mustBeWanted = (): void => {
    looks++
    if (!isWanted) throw givenUp()
  }
  const stats = sqliteStats(db, feedRows(db, mustBeWanted))
  expect(() => stats.computeOverall(wholeNetwork, early, late)).toThrow(StoreUnavailable)
  expect(looks).toBe(1)
  isWanted = true
  expect(stats.computeOverall(wholeNetwork, early, late).cells[2]).toBe(rows.length)
})
