/** A disk that is full while a backup is made, restored, or while one store is copied into another. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { command as backupCommand } from '../../cli/backup/backup.ts'
import { command as restoreCommand } from '../../cli/backup/restore.ts'
import { copyRows } from '../../cli/store/copy-rows.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { hourMs } from '../../core/time.ts'
import { buckets, spokenSubject } from '../../schemas/subjects.ts'
import { neededKey } from '../../schemas/system-keys.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { bodyOf, cityOf, registerCity } from '../support/chaos/city.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { pour } from '../support/chaos/pour.ts'
import { untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, readRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { signInAs, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { smallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ids = cityOf(100)
const count = 20_000
const mebibyte = 2 ** 20
const diskMiB = 24

test('a full disk ends a backup, a restore and a copy in words; nothing half-made is left, and the instance goes on', async (context) => {
  await using opened = new AsyncDisposableStack()
  const { path } = opened.use(temporaryFolder())
  const small = join(path, 'small')
  const disk = await smallDisk(small, `${diskMiB}m`)
  if (disk === undefined) return context.skip('only root may mount a small disk')
  opened.use(disk)
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  const data = join(path, 'data')
  await registerCity(nc, ids)
  const pipeline = opened.use(await startPipeline({ natsUrl: nats.url, dataFolder: data }))
  await pipeline.untilReady()
  const startMs = Date.now() - 500 * hourMs
  await pour(nc, { ids, readings: count, random: seeded(4), startMs, stepMs: hourMs })
  await untilJudged(nc)
  await using store = await openSqliteStore({ file: join(data, 'readings.sqlite'), readOnly: true })
  const rows = plainRows(await untilStored(store, count))

  const env = { NATS_URL: nats.url, ...signInAs('operator'), AIRPROOF_DATA: data }
  const backup = (dir: string) =>
    runCommand(backupCommand, { words: [dir], flags: { 'without-secrets': true }, env })
  mkdirSync(join(data, 'mail'))
  const mail = join(data, 'mail', '1.eml')
  const onSmall = join(small, 'backup')
  // no room for the first file; none for the database
  for (const bytes of [2 * diskMiB * mebibyte, diskMiB * mebibyte - 500_000]) {
    writeFileSync(mail, Buffer.alloc(bytes))
    const full = await backup(onSmall)
    expect(full.err).toContain(
      `the disk of ${onSmall} is full, so the backup is not finished, and its parts are removed`,
    )
    expect(full.code).toBe(1)
    expect(readdirSync(onSmall)).toEqual(['unfinished'])
    const held = await (await new Kvm(nc).open(buckets.system)).get(neededKey('backup'))
    expect(held?.operation).toBe('DEL')
  }
  const [sensor = ''] = ids
  const answer = await nc.request(
    spokenSubject(sensor),
    bodyOf(sensor, Date.now(), { pm25: 1_000, pm10: 2_000 }),
    { timeout: 10_000 },
  )
  expect(answer.json()).toHaveProperty('seq')
  await untilStored(store, count + 1)

  await disk.grow('200m')
  expect(await backup(onSmall)).toMatchObject({ code: 0 })
  rmSync(onSmall, { recursive: true })
  const whole = join(path, 'whole')
  expect(await backup(whole)).toMatchObject({ code: 0 })
  await nc.close()
  await nats.kill()

  const restored = join(small, 'restored')
  const restore = () =>
    runCommand(restoreCommand, {
      words: [whole],
      flags: { 'without-secrets': true },
      env: { AIRPROOF_DATA: restored },
    })
  // no room for the files; none for the streams
  for (const size of [diskMiB - 4, diskMiB + 4]) {
    await disk.grow(`${size}m`)
    const full = await restore()
    expect(full.err).toContain(`a disk that ${restored} needs is full, so nothing was restored`)
    expect(full.code).toBe(1)
    expect(readdirSync(small)).toEqual([])
  }
  await disk.grow('200m')
  expect(await restore()).toMatchObject({ code: 0 })
  expect(existsSync(join(restored, 'readings.sqlite'))).toBe(true)
  rmSync(restored, { recursive: true })

  await disk.grow('1m')
  const copy = async () => {
    await using target = await openSqliteStore({ file: join(small, 'readings.sqlite') })
    const bound = { upTo: Array<number>(partitionCount).fill(Infinity), restFrom: 0 }
    const how = { isTerminal: false, note: () => undefined, stop: new AbortController().signal }
    await copyRows({ source: store, target, bound }, how)
    return plainRows(await readRows(target))
  }
  await expect(copy()).rejects.toThrow(/the disk of .* is full/)
  await disk.grow('200m')
  const copied = await copy()
  expect(copied).toHaveLength(rows.length + 1)
  expect(copied).toEqual(plainRows(await readRows(store)))
})
