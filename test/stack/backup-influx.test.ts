/**
 * The same drill with InfluxDB: its rows are copied under load, and put into an empty bucket, or into an
 * SQLite file.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import type { Store } from '../../store/store.ts'
import {
  endNow,
  expectAnchoredAndGreen,
  expectEachOnce,
  inCity,
  killed,
  runProcess,
  sendAgain,
} from '../support/chaos/backup-drill.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type SentReading, startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, type TestBucket, testInflux } from '../support/influx.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

vi.setConfig({ testTimeout: 900_000 })

const missing = await influxMissing()
const ids = cityOf(60)
const historyMs = floorTo(Date.now(), dayMs) - 2 * dayMs
const patiently = { everyMs: 100 }

test.skipIf(missing !== undefined)(
  `lost after a backup under load, a city on InfluxDB goes on from it in an empty bucket ${missing ?? ''}`,
  async () => {
    await using opened = new AsyncDisposableStack()
    const influx = opened.use(await testInflux())
    const { path } = opened.use(temporaryFolder())
    const [first, second] = [await influx.newBucket(), await influx.newBucket()]
    const passphrase = join(path, 'passphrase')
    writeFileSync(passphrase, 'six words that nobody guesses at all\n', { mode: 0o600 })
    const env = { ANCHOR_INTERVAL: '2s', AIRPROOF_BACKUP_PASSPHRASE_FILE: passphrase }
    const withInflux = ({ url, org, bucket }: TestBucket, tokenFile: string) => ({
      ...env,
      INFLUX_URL: url,
      INFLUX_ORG: org,
      INFLUX_BUCKET: bucket,
      INFLUX_TOKEN_FILE: tokenFile,
    })
    /** As `airproof store setup` leaves it before there is anything else. */
    const withToken = (name: string, { token }: TestBucket): string => {
      mkdirSync(join(path, name), { mode: 0o700 })
      const file = join(path, name, 'influx-write-token')
      writeFileSync(file, `${token}\n`, { mode: 0o600 })
      return file
    }
    const [data, next, backup] = ['data', 'next', 'backup'].map((name) => join(path, name)) as [
      string,
      string,
      string,
    ]
    const original = withInflux(first, withToken('data', first))
    const promised: SentReading[] = []

    const copiedFrom = await inCity(data, original, async (nc, { pids }) => {
      await registerCity(nc, ids)
      const past = { ids, everyMs: 50, startMs: historyMs, stepMs: 30 * 60_000 }
      const history = startSensors(nc, { ...past, random: seeded(1) })
      await eventually(
        'there is history',
        () => history.acknowledged.length >= 40 * ids.length,
        patiently,
      )
      await history.stop()
      promised.push(...history.acknowledged)
      const sensors = startSensors(nc, { ids, random: seeded(2), everyMs: 300, isLive: true })
      const answered = async (count: number): Promise<void> => {
        const enough = sensors.acknowledged.length + count
        const look = () => sensors.acknowledged.length >= enough
        await eventually('sensors are answered', look, patiently)
      }
      await answered(3 * ids.length)
      const blind = await runProcess(['backup', backup, '--data', data], env)
      expect(blind.err).toContain('give this command the INFLUX_ settings of the pipeline')
      await killed(backup, ['backup', backup, '--data', data], original)
      const from = promised.length + sensors.acknowledged.length
      const made = await runProcess(['backup', backup, '--data', data], original)
      expect(made).toMatchObject({ code: 0 })
      expect(made.out).toMatch(/contains everything accepted up to \d{4}-.* \(\d+ readings\)/)
      expect(readdirSync(backup)).toContain('readings.sqlite')
      expect(readdirSync(backup).filter((name) => /-wal|-shm|unfinished/.test(name))).toEqual([])
      await answered(3 * ids.length)
      await sensors.stop()
      promised.push(...sensors.acknowledged)
      // the bucket then has a reading that the backup lacks
      const [, copied] = /\((\d+) readings\)/.exec(made.out) ?? []
      await using store = await first.open()
      await untilStored(store, Number(copied) + 1)
      for (const pid of Object.values(pids)) endNow(pid)
      return from
    })
    rmSync(data, { recursive: true })

    // the bucket that outlived the rest has readings whose numbers will be given out again
    const token = withToken('next', second)
    const former = withInflux(first, join(path, 'former-token'))
    writeFileSync(former.INFLUX_TOKEN_FILE, first.token, { mode: 0o600 })
    const onto = await runProcess(['restore', backup, '--data', next], former)
    expect(onto.err).toContain('which the other one lacks')
    expect(onto.code).toBe(1)
    expect(readdirSync(next)).toEqual(['influx-write-token'])

    const restored = withInflux(second, token)
    await killed(`${next}.restoring`, ['restore', backup, '--data', next], restored)
    const whole = await runProcess(['restore', backup, '--data', next], restored)
    expect(whole).toMatchObject({ code: 0 })
    expect(whole.out).toContain(`the readings are in the InfluxDB bucket ${second.bucket}`)
    expect(readFileSync(token, 'utf8').trim()).toBe(second.token)
    expect(existsSync(join(next, 'readings.sqlite'))).toBe(false)
    await inCity(next, restored, async (nc) => {
      await sendAgain(nc, promised.slice(copiedFrom))
      await using store = await second.open()
      await expectEachOnce(store, promised)
      await expectStatistics(store)
      await expectAnchoredAndGreen(nc, next, restored)
    })

    // and as one file, on a machine without InfluxDB
    const alone = join(path, 'alone')
    const asFile = await runProcess(['restore', backup, '--data', alone], env)
    expect(asFile).toMatchObject({ code: 0 })
    expect(asFile.out).toContain(`the readings are in the SQLite file ${alone}`)
    const [, readings = ''] = /\((\d+) readings\)/.exec(asFile.out) ?? []
    await inCity(alone, env, async () => {
      await using store = await checkedSqlite(alone).open()
      await untilStored(store, Number(readings))
      await expectStatistics(store)
    })
  },
)

/** The hours of the history, as they are computed from its rows. */
async function expectStatistics(store: Store): Promise<void> {
  const toMs = historyMs + dayMs
  const readings = (rows: readonly { readonly startMs: number; readonly readings: number }[]) =>
    rows.map((row) => `${row.startMs} ${row.readings}`).join()
  const computed = await store.computeBuckets(wholeNetwork, historyMs, toMs, 'hour')
  expect(computed.length).toBeGreaterThan(dayMs / hourMs / 2)
  await eventually(
    'every hour is written',
    async () =>
      readings(await store.areaHours(wholeNetwork, historyMs, toMs)) === readings(computed),
    patiently,
  )
}
