/** Retention where something is wrong or in between: nothing goes that is not proven, and nothing is done by halves. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { purgeBlobs } from '../../archive/expire-blobs.ts'
import { statisticsWait } from '../../archive/statistics-wait.ts'
import { command as auditLogCommand } from '../../cli/audit-log.ts'
import { command as doctorCommand } from '../../cli/doctor/doctor.ts'
import { command as statusCommand } from '../../cli/status.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { expiredReadings } from '../../pipeline/projections/expired-readings.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { retentionIn } from '../../runtime/nats/retention.ts'
import { environment } from '../../runtime/process/config.ts'
import { nothingExpired } from '../../schemas/retention.ts'
import { blobsStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import type { Store } from '../../store/store.ts'
import { todayMs } from '../support/archived-city.ts'
import { eventually } from '../support/eventually.ts'
import { signInAs } from '../support/nats.ts'
import { type RetentionCity, retentionCity } from '../support/retention-city.ts'
import { runCommand } from '../support/run-command.ts'

const opened = new AsyncDisposableStack()
const days = 20
const perDay = 80
let lived: RetentionCity

beforeAll(async () => {
  lived = opened.use(await retentionCity(days, { rawDays: 2, blobDays: 2, perDay }))
  await lived.live(days)
  await lived.archive(Date.now())
})
afterAll(() => opened.disposeAsync())

const rowsOf = async (from = 0, to = days): Promise<readonly Reading[]> =>
  await lived.city.store.rangeAll(
    lived.firstMs + from * dayMs,
    lived.firstMs + to * dayMs,
    1_000_000,
    undefined,
    'asc',
  )
function sentOn(day: number): ArrivedReading {
  const fromMs = lived.firstMs + day * dayMs
  const found = lived.city.log.written.find(
    ({ timeMs }) => timeMs >= fromMs && timeMs < fromMs + dayMs,
  )
  if (found === undefined) throw new Error(`nothing was sent on day ${day}`)
  return found
}
const expireNow = () => lived.expire(lived.expiry(), Date.now())
const dayFile = async (): Promise<string> => {
  const path = (await readCatalogue(lived.folder))?.runs[0]?.files[3]?.path
  if (path === undefined) throw new Error('no file')
  return join(lived.folder, path)
}

test.each([
  [
    'has a changed byte',
    (file: string) => {
      const bytes = readFileSync(file)
      bytes[100]! ^= 1
      writeFileSync(file, bytes)
    },
    /a byte of it was changed/,
  ],
  ['is missing', (file: string) => rmSync(file), /is missing/],
] as const)('nothing goes while a file of the archive %s', async (_, damage, words) => {
  const file = await dayFile()
  const whole = readFileSync(file)
  damage(file)
  try {
    await expect(expireNow()).rejects.toThrow(words)
  } finally {
    writeFileSync(file, whole)
  }
  expect(await retentionIn(lived.system)).toEqual(nothingExpired)
  expect(await rowsOf()).toHaveLength(days * perDay)
})

test('nothing goes while the archive does not go so far, and it says how far it goes', async () => {
  const catalogue = await readCatalogue(lived.folder)
  if (catalogue === null || catalogue === undefined) throw new Error('no archive')
  const complete_until = new Date(lived.firstMs).toISOString()
  const older = { ...catalogue, complete_until }
  const now = { nowMs: Date.now(), stop: new AbortController().signal }
  const done = await lived.expiry().round(older, now)
  expect(done).toMatchObject({ readings: 0, isMore: false })
  expect(done.waits).toMatch(`the archive is complete until ${complete_until} only`)
  expect(await rowsOf()).toHaveLength(days * perDay)
})

test('nothing goes of a day whose hours are not written', async () => {
  const entry = await lived.system.get('rollup')
  const record = entry?.json<object>() ?? {}
  const waits = async (over: object) =>
    await statisticsWait(
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that are read
      {
        get: () =>
          Promise.resolve({
            bucket: 'system',
            key: 'rollup',
            operation: 'PUT',
            string: () => JSON.stringify({ ...record, ...over }),
          }),
      } as never,
      7,
      lived.firstMs,
    )
  expect(await waits({})).toBeUndefined()
  expect(await waits({ position: 6 })).toMatch(/are not written yet/)
  expect(await waits({ dirty: [['Ikeja', lived.firstMs + 60 * minuteMs]] })).toMatch(/not written/)
  expect(await waits({ dirtyDays: [['Ikeja', lived.firstMs]] })).toMatch(/not written/)
  expect(await waits({ dirtyDays: [['Ikeja', lived.firstMs + dayMs]] })).toBeUndefined()
  expect(await waits({ sensorsFromMs: lived.firstMs + dayMs })).toMatch(/not written/)
})

test('killed as soon as the record is written, and half-way, the next process ends the work', async () => {
  const total = days * perDay
  await using first = await started()
  await eventually(
    'the record is written',
    async () => (await retentionIn(lived.system)).rawBeforeMs !== null,
    { everyMs: 1 },
  )
  first.kill('SIGKILL')
  await first.exited
  expect(await rowsOf()).toHaveLength(total)
  expect(await retentionIn(lived.system)).toMatchObject({
    rawBeforeMs: todayMs - 2 * dayMs,
    run: 1,
  })
  await using second = await started()
  await eventually('something is gone', async () => (await rowsOf()).length < total, {
    everyMs: 1,
  })
  second.kill('SIGKILL')
  await second.exited
  const left = (await rowsOf()).length
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(total)
  // two at once: one stands by
  await using third = await started()
  await using fourth = await started()
  await eventually('all of it is gone', async () => (await rowsOf()).length === 0, {
    everyMs: 50,
  })
  const report = await eventually(
    'it is reported',
    async () => {
      const found = (await lived.system.get('archive'))?.json<{
        retention?: { readings: number; raw_days: number; trouble: null }
      }>()
      return found?.retention !== undefined && found.retention.readings > 0 ? found : undefined
    },
    { everyMs: 50 },
  )
  expect(report.retention).toMatchObject({ raw_days: 2, trouble: null })
  await Promise.all([third.stop(), fourth.stop()])
  const day = new Date(todayMs - 2 * dayMs).toISOString().slice(0, 10)
  const words = new RegExp(`readings before ${day}T00:00:00\\S* are in the archive only`)
  const env = { NATS_URL: lived.city.natsUrl }
  expect((await runCommand(doctorCommand, { env })).out).toMatch(words)
  expect((await runCommand(statusCommand, { env })).out).toMatch(words)
})

test('another setting of retention is in the operators’ log: who, when, and from what', async () => {
  type Entry = { what: string; who: string; at: string; details: Record<string, number | null> }
  const entries = async (): Promise<readonly Entry[]> => {
    const env = { NATS_URL: lived.city.natsUrl }
    const flags = { json: true, what: 'retention' }
    const { out } = await runCommand(auditLogCommand, { env, flags })
    return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line) as Entry)
  }
  const before = await entries()
  // each of the processes that were killed may have said it
  expect(new Set(before.map(({ details }) => JSON.stringify(details)))).toEqual(
    new Set(['{"raw_days":2,"blob_days":null,"former_raw_days":null,"former_blob_days":null}']),
  )
  const report = async () =>
    (await lived.system.get(systemKeys.archive))?.json<{ retention?: { raw_days: number } }>()
  for (const [raw, former] of [
    [3, 2],
    [null, 3],
    [null, null],
  ] as const) {
    const seen = (await entries()).length
    await using child = await started({ AIRPROOF_RAW_DAYS: raw === null ? '' : String(raw) })
    await eventually(
      'it is reported',
      async () => ((await report())?.retention?.raw_days ?? null) === raw,
    )
    await child.stop()
    const more = (await entries()).slice(0, -seen)
    expect(more.map(({ details }) => details)).toEqual(
      raw === former
        ? []
        : [{ raw_days: raw, blob_days: null, former_raw_days: former, former_blob_days: null }],
    )
    for (const { who, at } of more) {
      expect(who).toBe(`${userInfo().username}@${hostname()}`)
      expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(120_000)
    }
  }
})

async function started(more: Readonly<Record<string, string>> = {}) {
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'archive'],
    env: {
      ...environment(),
      ...signInAs('archive'),
      AIRPROOF_DATA: lived.city.folder,
      NATS_URL: lived.city.natsUrl,
      SQLITE_FILE: lived.city.storeFile,
      AIRPROOF_ARCHIVE_DIR: lived.folder,
      AIRPROOF_ARCHIVE_POLL: '100ms',
      AIRPROOF_RAW_DAYS: '2',
      AIRPROOF_ADMIN_PORT: '0',
      AIRPROOF_LOG: 'warn',
      ...more,
    },
    onLine: () => undefined,
  })
  return Object.assign(child, { [Symbol.asyncDispose]: async () => void (await child.stop()) })
}

test('a late reading of an expired day is in its hour with the others, and goes when it is archived', async () => {
  const dayOf = async () =>
    (await lived.city.store.areaDays(wholeNetwork, lived.firstMs, lived.firstMs + dayMs)).map(
      ({ readings }) => readings,
    )
  expect(await dayOf()).toEqual([perDay])
  const late = await lived.late(0)
  await lived.settle()
  expect(lived.unreadable).toEqual([])
  expect(await dayOf()).toEqual([perDay + 1])
  await expireNow()
  expect((await rowsOf(0, 1)).map(({ seq }) => seq)).toEqual([late.seq])
  await lived.archive(Date.now())
  await expireNow()
  expect(await rowsOf(0, 1)).toEqual([])
  expect(await dayOf()).toEqual([perDay + 1])
  expect(await retentionIn(lived.system)).toMatchObject({ run: 2 })
})

test('a late reading that is written at the moment of a deletion is there again, where the engine deletes by time', async () => {
  const { city } = lived
  const former = await lived.late(1)
  await lived.settle()
  await lived.archive(Date.now())
  let late: ArrivedReading | undefined
  const { deleteReadings } = city.store
  const byTime: Store = {
    ...city.store,
    deletesByTime: true,
    deleteReadings: async (of, fromMs, toMs) => {
      await lived.write({
        partition: 1,
        readings: 1,
        change: (reading) => ({ ...reading, sensor: former.sensor, timeMs: former.timeMs + 5 }),
      })
      late = city.log.written.at(-1)
      const all = of.map(({ sensor }) => ({ sensor, lastSeq: Number.MAX_SAFE_INTEGER }))
      await deleteReadings(all, fromMs, toMs)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const openWriter = () => Promise.resolve(byTime)
  await lived.expire(lived.expiry({ store: byTime, openWriter }), Date.now())
  expect((await rowsOf(1, 2)).map(({ seq }) => seq)).toEqual([late?.seq])
  await lived.settle()
  await lived.archive(Date.now())
  await expireNow()
  expect(await rowsOf(1, 2)).toEqual([])
})

test('a reading that is sent again is the one in the archive; who cannot look refuses it after a minute', async () => {
  const sent = sentOn(1)
  const key = { sensor: sent.sensor, timeMs: sent.timeMs }
  const other = { sensor: sent.sensor, timeMs: sent.timeMs + 1 }
  const [known, unknown] = await lived.expired.existing([key, other])
  expect(known).toMatchObject({ seq: sent.seq, values: sent.values })
  expect(unknown).toBeUndefined()
  let nowMs = Date.now()
  const blind = expiredReadings({
    store: lived.city.store,
    rows: {
      beforeMs: () => undefined,
      range: () => Promise.reject(new ArchiveUnreadable('a file is missing')),
      rangeAll: () => Promise.reject(new ArchiveUnreadable('a file is missing')),
      signature: () => Promise.resolve(undefined),
    },
    retention: {
      now: () => ({ rawBeforeMs: lived.firstMs + days * dayMs, blobsBeforeBatch: null }),
      barrier: () => Promise.resolve(),
    },
    nowMs: () => nowMs,
    onUnreadable: () => undefined,
  })
  await expect(blind.existing([key])).rejects.toThrow(ArchiveUnreadable)
  nowMs += 2 * minuteMs
  const recent = { sensor: sent.sensor, timeMs: nowMs }
  expect(await blind.existing([key, recent])).toEqual(['unasked', undefined])
})

test('leaves go batch by batch, and what a killed process has left goes with the next', async () => {
  const manager = await jetstreamManager(lived.city.nc)
  const stored = async () => (await manager.streams.info(blobsStream)).state.messages
  const before = await stored()
  const inDays = Date.now() + 5 * dayMs
  const killed = new Error('killed')
  const purge = manager.streams.purge.bind(manager.streams)
  let purges = 0
  const dying = {
    ...manager,
    streams: Object.assign(Object.create(manager.streams) as typeof manager.streams, {
      purge: async (...args: Parameters<typeof purge>) => {
        if (purges++ > 0) throw killed
        return await purge(...args)
      },
    }),
  }
  const last = (await readCatalogue(lived.folder))?.end.batch ?? 0
  await expect(purgeBlobs(dying, last, new AbortController().signal)).rejects.toBe(killed)
  expect(await stored()).toBeLessThan(before)
  const done = await lived.expire(lived.expiry(), inDays)
  expect(done.waits).toMatch(/the archive is complete until/)
  expect(await retentionIn(lived.system)).toMatchObject({ blobsBeforeBatch: last + 1 })
  expect(await stored()).toBe(0)
})

test('a record that was lost is written again, of what is proven again', async () => {
  const former = await retentionIn(lived.system)
  await lived.system.delete(systemKeys.retention)
  // as the test before it, by another process
  await lived.expire(lived.expiry(), Date.now() + 5 * dayMs)
  expect(await retentionIn(lived.system)).toEqual(former)
})

test('a row that is not as it was archived stays, and it is said which', async () => {
  const row = sentOn(2)
  await lived.city.store.writeBatch([{ ...row, aqi: 499 }])
  await expect(expireNow()).rejects.toThrow(
    new RegExp(`the store has the reading ${row.seq} of ${row.sensor} .* has it otherwise`),
  )
  expect(await rowsOf(2, 3)).toHaveLength(1)
})
