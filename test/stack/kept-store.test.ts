import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { run as runApi } from '../../api/main.ts'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as exportCommand } from '../../cli/export/export.ts'
import { formatIso } from '../../core/iso-time.ts'
import { hourMs } from '../../core/time.ts'
import { run as runPipeline } from '../../pipeline/main.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { openLog } from '../../runtime/log.ts'
import type { StorePlace } from '../../runtime/machine/store-place.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { assertKeptStore, claimStore, readKeptStore } from '../../runtime/process/kept-store.ts'
import type { ProcessMain } from '../../runtime/process/process.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { sqliteHasRows } from '../../store/sqlite/database-file.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { readingOf } from '../support/readings.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const influx: StorePlace = {
  kind: 'influx',
  url: 'http://127.0.0.1:1/',
  org: 'airproof',
  bucket: 'air',
}
const influxEnv = { INFLUX_URL: 'http://user:word@127.0.0.1:1', INFLUX_TOKEN: 'secret' }

const folders = new DisposableStack()
afterAll(() => folders.dispose())
const newFolder = (): string => folders.use(temporaryFolder()).path

async function folderWithRows(): Promise<string> {
  const folder = newFolder()
  await using store = await openSqliteStore({ file: join(folder, 'readings.sqlite') })
  await store.writeBatch([readingOf({ area: 'Test', timeMs: hourMs, pm25: 1, aqi: 0 })])
  return folder
}

describe('a start with a store', () => {
  let nats: TestNats
  let nc: NatsConnection
  beforeAll(async () => {
    nats = await testNats()
    nc = await nats.connect()
    await ensureStreams(nc)
    await logWriter(nc).write()
  })
  afterAll(async () => {
    await nc.close()
    await nats[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await (await new Kvm(nc).open(buckets.system)).delete(systemKeys.store)
  })

  const configOf = (folder: string, env: Readonly<Record<string, string>> = {}) =>
    readSharedConfig({
      env: { AIRPROOF_DATA: folder, AIRPROOF_LOG: 'silent', NATS_URL: nats.url, ...env },
      flags: {},
    })
  const claim = (folder: string, env: Readonly<Record<string, string>> = {}) =>
    claimStore(nc, { ...configOf(folder, env), hasRows: sqliteHasRows })

  test('the first start records where readings are stored, without a secret', async () => {
    expect(await claim(newFolder(), influxEnv)).toBeUndefined()
    expect(await readKeptStore(nc)).toEqual(influx)
    expect(await claim(newFolder(), influxEnv)).toBeUndefined()
  })

  test('a folder with rows of SQLite is not started on InfluxDB, unless that is requested', async () => {
    const folder = await folderWithRows()
    const file = join(folder, 'readings.sqlite')
    // as 0.1 left it, and as this version does
    for (let start = 0; start < 2; start++) {
      await expect(claim(folder, influxEnv)).rejects.toThrow(
        `readings were kept in the SQLite file ${file} until now`,
      )
      await claim(folder)
    }
    const asked = { ...influxEnv, AIRPROOF_STORE_CHANGED: '1' }
    expect(await claim(folder, asked)).toBe(`the SQLite file ${file}`)
    expect(await readKeptStore(nc)).toEqual(influx)
    expect(await claim(folder, influxEnv)).toBeUndefined()
  })

  test('readings in InfluxDB are not abandoned for SQLite, nor for another bucket', async () => {
    const folder = newFolder()
    await claim(folder, influxEnv)
    await expect(claim(folder)).rejects.toThrow('the InfluxDB bucket air of airproof')
    const other = { ...influxEnv, INFLUX_BUCKET: 'water' }
    await expect(claim(folder, other)).rejects.toThrow('their history would be out of reach')
  })

  test('an empty file is not a store for a log with readings, even if no store was recorded', async () => {
    await expect(claim(newFolder())).rejects.toThrow(
      'readings were kept in another store until now',
    )
    await claim(await folderWithRows())
  })

  test('a moved folder brings its file along, and an empty one does not', async () => {
    await claim(await folderWithRows())
    await expect(claim(newFolder())).rejects.toThrow('history would be out of reach')
    const moved = await folderWithRows()
    await claim(moved)
    expect(await readKeptStore(nc)).toEqual({
      kind: 'sqlite',
      file: join(moved, 'readings.sqlite'),
    })
  })

  test('a process that reads another store than the pipeline writes does not start', async () => {
    await claim(newFolder(), influxEnv)
    await expect(assertKeptStore(nc, configOf(newFolder()))).rejects.toThrow('INFLUX_ settings')
    const near = { ...influxEnv, INFLUX_URL: 'http://influx.internal:8086' }
    await assertKeptStore(nc, configOf(newFolder(), near))
    const start = (main: ProcessMain, folder: string): Promise<void> => {
      const source = { env: {}, flags: {} }
      const log = openLog({ name: 'test', level: 'silent' })
      const { signal: stop } = new AbortController()
      return main({ config: configOf(folder), ...source, log, stop })
    }
    await expect(start(runApi, newFolder())).rejects.toThrow('INFLUX_ settings')
    await expect(start(runPipeline, newFolder())).rejects.toThrow('history would be out of reach')
  })
})

describe('a command reads the store of the running instance', () => {
  let api: AnchoredApi
  const sensor = 'NGR-LOS-IKJ-001'
  const timeMs = Math.floor(Date.now() / 1000) * 1000 - hourMs
  beforeAll(async () => {
    api = await anchoredApi()
    await api.register({ id: sensor })
    await api.commit([{ sensor, timeMs }])
    await api.anchored()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const audit = (env: Readonly<Record<string, string>> = {}) =>
    runCommand(auditCommand, {
      env: { ...api.anchorEnv, AIRPROOF_DATA: newFolder(), ...env },
    })
  const keep = (place: StorePlace) => api.system.put(systemKeys.store, JSON.stringify(place))

  test('wherever it runs, and names it', async () => {
    await keep({ kind: 'sqlite', file: api.storeFile })
    const { code, out } = await audit()
    expect([code, out]).toEqual([0, expect.stringContaining('GREEN')])
    expect(out).toContain(`rows read from the SQLite file ${api.storeFile}`)
    const [from, to] = [formatIso(timeMs), formatIso(timeMs + hourMs)]
    const exported = await runCommand(exportCommand, {
      flags: { from, to, out: join(newFolder(), 'rows.ndjson') },
      env: { ...api.anchorEnv, AIRPROOF_DATA: newFolder() },
    })
    expect(exported.code).toBe(0)
    expect(exported.err).toContain(`reading the SQLite file ${api.storeFile}`)
    expect(exported.err).toContain('the one reading of batch 1')
  })

  test('an SQLite file that is no longer in use is never green, complete as it may be', async () => {
    await keep(influx)
    const stale = { AIRPROOF_DATA: join(api.storeFile, '..') }
    const without = await audit(stale)
    expect([without.code, without.out]).toEqual([1, ''])
    expect(without.err).toContain('set INFLUX_TOKEN or INFLUX_TOKEN_FILE to read them')
    // nothing answers there
    const away = await audit({ ...stale, INFLUX_TOKEN: 'secret' })
    expect(away.code).toBe(exitCodes.tryAgain)
    expect(away.out).not.toContain('GREEN')
  })

  test('settings that name another store are refused, with the setting’s name', async () => {
    await keep({ kind: 'sqlite', file: api.storeFile })
    expect((await audit(influxEnv)).err).toContain(
      'INFLUX_URL of this command, or of .env here, names another place',
    )
    await keep(influx)
    const bucket = await audit({ INFLUX_BUCKET: 'water', INFLUX_TOKEN: 'secret' })
    expect([bucket.code, bucket.err]).toEqual([1, expect.stringContaining('INFLUX_BUCKET')])
    const url = await audit({ INFLUX_URL: 'http://127.0.0.1:2', INFLUX_TOKEN: 'secret' })
    expect([url.code, url.err]).toEqual([1, expect.stringContaining('INFLUX_URL')])
  })
})
