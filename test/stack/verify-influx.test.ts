import { dirname } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { valueOf } from '../../core/air/values.ts'
import { formatIso } from '../../core/iso-time.ts'
import { minuteMs } from '../../core/time.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { claimStore } from '../../runtime/process/kept-store.ts'
import { sqliteHasRows } from '../../store/sqlite/database-file.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { anchoredApi } from '../support/anchored-api.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { readingOf } from '../support/readings.ts'
import { runCommand } from '../support/run-command.ts'

const missing = await influxMissing()
const influx = missing === undefined ? await testInflux() : undefined
afterAll(() => influx?.[Symbol.asyncDispose]())

const sensor = 'NGR-LOS-IKJ-001'
const startMs = Math.floor(Date.now() / 1000) * 1000 - 10 * minuteMs

test.skipIf(missing !== undefined)(
  `a value changed in InfluxDB is reported by verify, by the metrics and by the audit${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    const bucket = await influx!.newBucket()
    const env = {
      INFLUX_URL: bucket.url,
      INFLUX_ORG: bucket.org,
      INFLUX_BUCKET: bucket.bucket,
      INFLUX_TOKEN: bucket.token,
    }
    await using api = await anchoredApi({ env, openStore: () => bucket.open() })
    await api.register({ id: sensor })
    const audit = () =>
      runCommand(auditCommand, {
        env: { ...api.anchorEnv, ...env, AIRPROOF_DATA: dirname(api.storeFile) },
      })
    const empty = await eventually('the contract is known, and empty', async () => {
      await api.anvil.rpc('anvil_mine', ['0x80'])
      const run = await audit()
      return run.code === 1 && run.err.startsWith('nothing is anchored here yet') ? undefined : run
    })
    expect([empty.code, empty.err]).toEqual([75, ''])
    expect(empty.out).toContain('… not_yet: nothing is anchored yet')
    expect(empty.out).toMatch(/\nNOT YET\. [^\n]*$/)
    const rows = await api.commit(
      Array.from({ length: 300 }, (_, i) => ({ sensor, timeMs: startMs + i * 1_000 })),
    )
    await api.anchored()
    const victim = rows[120]!
    const statusOf = async (timeMs: number): Promise<string> => {
      const path = `/v1/readings/${sensor}/verify?timestamp=${formatIso(timeMs)}`
      return ((await (await api.get(path)).json()) as { status: string }).status
    }
    await eventually('it is verified', async () => (await statusOf(victim.timeMs)) === 'verified')
    const before = await audit()
    expect([before.code, before.err, before.out]).toEqual([0, '', expect.stringContaining('GREEN')])

    // the same point with another value takes its place
    await api.store.writeBatch([
      readingOf({ ...victim, pm25: valueOf(victim.values, 'pm25')! + 1 }),
    ])
    expect(await statusOf(victim.timeMs)).toBe('mismatch')
    expect(await statusOf(victim.timeMs + 1_000)).toBe('verified')
    const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/^airproof_api_mismatch_total\{.*reason="leaf".*\} 1$/m)
    const after = await audit()
    expect(after.code).toBe(1)
    expect(after.out).toContain(`row: ${sensor} ${formatIso(victim.timeMs)}`)
    expect(after.out).toContain('batch 1: 1 of its 300 readings have no row that fits')

    // a folder that ran on SQLite once, with every row as it was anchored
    const folder = dirname(api.storeFile)
    await using stale = await openSqliteStore({ file: api.storeFile })
    await stale.writeBatch(rows)
    const auditIn = (more: Readonly<Record<string, string>>) =>
      runCommand(auditCommand, { env: { ...api.anchorEnv, AIRPROOF_DATA: folder, ...more } })
    // the canary: by its own word the file would be green
    expect((await auditIn({})).out).toContain('GREEN')
    await claimStore(api.nc, {
      ...readSharedConfig({
        env: { AIRPROOF_DATA: api.anchorEnv['AIRPROOF_DATA'], ...env },
        flags: {},
      }),
      hasRows: sqliteHasRows,
    })
    const red = await auditIn({ INFLUX_TOKEN: bucket.token })
    expect([red.code, red.out]).toEqual([1, expect.stringContaining('RED')])
    expect(red.out).toContain(`rows read from the InfluxDB bucket ${bucket.bucket} of`)
    expect((await auditIn({})).err).toContain('set INFLUX_TOKEN')
    await influx!.kill()
    const away = await auditIn({ INFLUX_TOKEN: bucket.token })
    expect([away.code, away.out]).toEqual([75, ''])
    expect(away.err).toMatch(/^InfluxDB .*(ECONNREFUSED|does not answer|check INFLUX_URL)/)
  },
)
