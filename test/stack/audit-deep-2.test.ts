/** `--deep` over rows of version 2: what their devices signed, and the statistics that are made from them. */
import { DatabaseSync } from 'node:sqlite'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collectFindings } from '../../anchor/audit/findings.ts'
import { openDeepAudit } from '../../cli/audit/deep-audit.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { deviceText } from '../../core/air/device-text.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { maskOf } from '../../core/air/quality.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import type { AreaStats, StoreRow } from '../../store/store.ts'
import { siteOf } from '../support/api.ts'
import { type AuditedNetwork, auditedNetwork } from '../support/chain/audited-network.ts'
import { valued } from '../support/readings.ts'
import { deviceWord, signingDevice } from '../support/signing-device.ts'

const devices = [signingDevice('ed25519'), signingDevice('p256')] as const
const thief = signingDevice('ed25519')
const startMs = floorTo(Date.now() - 3 * dayMs, dayMs)
const sensorOf = (n: number) => `NGR-LOS-TST-${String(n % 3).padStart(3, '0')}` as SensorId

/** One every twenty minutes over two days. Those of two of the three sensors are signed. */
const rows = Array.from({ length: 144 }, (_, i): StoreRow => {
  const [timeMs, pm25] = [startMs + i * 20 * 60_000, 1_000 + i]
  const [sensor, device] = [sensorOf(i), devices[i % 3]]
  const signed = device?.sign(deviceText(sensor, timeMs, [['pm25', String(pm25 / 100)]]))
  return {
    ...valued({
      sensor,
      timeMs,
      pm25,
      aqi: usAqiOf(pm25, null),
      area: 'Ikeja',
      // some that failed: the log says so, their values do not
      flags: i % 12 === 5 ? maskOf('pm_stuck') : 0,
      seq: seqOf(4, i + 1),
    }),
    leafVersion: 2,
    ...(signed && { signed, device: deviceWord(signed) }),
  }
})

/** @param more of the key */
const entryOf = (id: SensorId, more: object = {}) => {
  const signed = rows.find(({ sensor }) => sensor === id)?.signed
  const from = '2020-01-01T00:00:00Z'
  return {
    id,
    cadence_seconds: 1200,
    sites: [siteOf('Lekki'), siteOf('Ikeja', 6.6, 3.35, '2021-01-01T00:00:00Z')],
    created_at: '2020-01-01T00:00:00Z',
    ...(signed && {
      keys: [{ algorithm: signed.algorithm, public_key: signed.publicKey, from, ...more }],
    }),
  }
}

let network: AuditedNetwork
beforeAll(async () => {
  network = await auditedNetwork()
  const { nc, store } = network
  await network.deploy({ former: noContract, from: noRecord })
  await network.seal(rows)
  await store.writeBatch(rows)
  await network.finalize()
  const kvm = new Kvm(nc)
  const sensors = await kvm.open(buckets.sensors)
  for (const id of new Set(rows.map(({ sensor }) => sensor)))
    await sensors.put(id, JSON.stringify(entryOf(id)))
  const [fromMs, toMs] = [startMs, startMs + 2 * dayMs]
  for (const area of ['Ikeja', wholeNetwork]) {
    await store.writeAreaHours(await store.computeBuckets(area, fromMs, toMs, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, fromMs, toMs, 'day'))
  }
  const { state } = await (await jetstreamManager(nc)).streams.info(readingsStream)
  const position = { position: state.last_seq, dirty: [], dirtyDays: [] }
  await (await kvm.open(buckets.system)).put(systemKeys.rollup, JSON.stringify(position))
})
afterAll(() => network[Symbol.asyncDispose]())

function sql(statement: string, ...values: (string | number | Uint8Array)[]): void {
  using db = new DatabaseSync(network.storeFile, { timeout: 5_000 })
  db.prepare(statement).run(...values)
}
const deep = async () => {
  const { code, report, printed } = await network.run({ deep: true })
  return { code, printed, covers: report.covers }
}

test('areas, flags, signatures and statistics of version 2 are green, and covered', async () => {
  const { code, printed, covers } = await deep()
  expect([code, printed]).toEqual([0, []])
  const compared = ['area', 'flags that follow from values', 'signatures', 'statistics of areas']
  expect(covers).toMatchObject({
    compared,
    not_checked: [],
    by_version: [{ version: 2, compared }],
  })
})

test('rows that are not signed are found from when the registry requires a signature', async () => {
  const sensors = await new Kvm(network.nc).open(buckets.sensors)
  const unsigned = rows.filter(({ signed }) => signed === undefined)
  const { sensor, timeMs } = unsigned[20]!
  // a sensor that signs too, and nothing of it is found
  const other = devices[0].sign('').publicKey
  const put = (since: object) =>
    sensors.put(
      sensor,
      JSON.stringify({
        ...entryOf(sensor),
        keys: [{ algorithm: 'ed25519', public_key: other, from: '2020-01-01T00:00:00Z' }],
        signature: 'required',
        ...since,
      }),
    )
  // what was measured some minutes after that may have arrived before
  await put({ signature_since: formatIso(timeMs - 6 * 60_000) })
  const { code, printed } = await deep()
  await put({ signature_since: formatIso(timeMs - 6 * 60_000 + 1_000) })
  const later = await deep()
  // an entry that does not say since when
  await put({})
  const unknown = await deep()
  await sensors.put(sensor, JSON.stringify(entryOf(sensor)))
  const words = (count: number, first: number, since: number) =>
    `signature: ${count} rows of ${sensor}: not signed, and the registry requires a signature since ${formatIso(since)}; the first at ${formatIso(first)}`
  const left = unsigned.length - 20
  expect([code, printed]).toEqual([1, [words(left, timeMs, timeMs - 360_000)]])
  expect(later.printed).toEqual([words(left - 1, unsigned[21]!.timeMs, timeMs - 359_000)])
  expect(unknown.printed).toEqual([])
})

test.each(['hour', 'day'] as const)(
  'statistics by the %s that are not those of their rows are found',
  async (size) => {
    const change = (by: number): void =>
      sql(`update area_${size} set pm25_mean = pm25_mean + ? where t = ?`, by, startMs + dayMs)
    change(1)
    const { code, printed } = await deep()
    change(-1)
    const at = `${size} of ${formatIso(startMs + dayMs)}: they are not those of its rows`
    expect([code, printed.toSorted()]).toEqual([
      1,
      [`statistics: ${wholeNetwork}, ${at}`, `statistics: Ikeja, ${at}`].toSorted(),
    ])
    expect((await deep()).printed).toEqual([])
  },
)

test('statistics that the pipeline says it has still to write are counted, and found when they are old', async () => {
  const system = await new Kvm(network.nc).open(buckets.system)
  const record = JSON.parse((await system.get(systemKeys.rollup))!.string()) as object
  const changeBy = (by: number): void =>
    sql('update area_hour set pm25_mean = pm25_mean + ? where t = ?', by, startMs)
  changeBy(1)
  const dirty = ['Ikeja', wholeNetwork].map((area) => [area, startMs])
  await system.put(systemKeys.rollup, JSON.stringify({ ...record, dirty }))
  const { code, printed } = await deep()
  changeBy(-1)
  await system.put(systemKeys.rollup, JSON.stringify(record))
  const words = `hour of ${formatIso(startMs)}: they are not those of its rows, and ended more than a day ago`
  expect([code, printed]).toEqual([
    1,
    [expect.stringContaining(words), expect.stringContaining(words)],
  ])

  const [hour] = await network.store.areaHours('Ikeja', startMs, startMs + hourMs)
  const nextHour = { ...hour!, startMs: floorTo(Date.now(), hourMs) + hourMs }
  await network.store.writeAreaHours([nextHour])
  const { report } = await network.run({ deep: true })
  sql('delete from area_hour where t = ?', nextHour.startMs)
  expect([report.ok, report.rows?.excused]).toEqual([
    true,
    [expect.stringMatching(/^1 statistics of hours and days are not those of their rows/)],
  ])
  expect((await network.run({ deep: true })).report.rows?.excused).toEqual([])
})

test('statistics that an earlier version wrote, with what failed, are compared as they were made', async () => {
  const { store } = network
  const failed = rows.find(({ flags }) => flags !== 0)!
  const fromMs = floorTo(failed.timeMs, hourMs)
  const span = [fromMs, fromMs + hourMs] as const
  const [made] = await store.computeBuckets('Ikeja', ...span, 'hour')
  const [then] = await store.computeBuckets('Ikeja', ...span, 'hour', 'all')
  expect([made?.failed, then?.readings]).toEqual([1, 3])
  const printedFor = async (stats: AreaStats) => {
    await store.writeAreaHours([stats])
    return (await deep()).printed
  }
  expect(await printedFor({ ...then!, failed: null })).toEqual([])
  const found = [`statistics: Ikeja, hour of ${formatIso(fromMs)}: they are not those of its rows`]
  const { pm25 } = then!.fields
  const changed = { ...then!.fields, pm25: { ...pm25, mean: pm25.mean! + 1 } }
  expect(await printedFor({ ...then!, failed: null, fields: changed })).toEqual(found)
  // the number of readings that failed is compared too, and cannot be taken away
  expect(await printedFor({ ...made!, failed: null })).toEqual(found)
  expect(await printedFor({ ...made!, failed: 0 })).toEqual(found)
  expect(await printedFor(then!)).toEqual(found)
  expect(await printedFor(made!)).toEqual([])
})

test('statistics that were taken away are found', async () => {
  const [fromMs, toMs] = [startMs + hourMs, startMs + 2 * hourMs]
  sql('delete from area_hour where t = ?', fromMs)
  const { printed } = await deep()
  for (const area of ['Ikeja', wholeNetwork])
    await network.store.writeAreaHours(
      await network.store.computeBuckets(area, fromMs, toMs, 'hour'),
    )
  expect(printed).toContainEqual(
    `statistics: Ikeja, hour of ${formatIso(fromMs)}: they are not those of its rows`,
  )
  expect((await deep()).printed).toEqual([])
})

test('statistics of a time, or of an area, that has no rows are found', async () => {
  const [hour] = await network.store.areaHours('Ikeja', startMs, startMs + hourMs)
  const before = { ...hour!, startMs: startMs - 40 * dayMs }
  const after = { ...hour!, startMs: startMs + 2 * dayMs + 3 * hourMs }
  // the registry has it, and no row
  const elsewhere = { ...hour!, area: 'Lekki' }
  const made = [before, after, elsewhere]
  await network.store.writeAreaHours(made)
  const { code, printed } = await deep()
  sql('delete from area_hour where t in (?, ?)', before.startMs, after.startMs)
  sql(`delete from area_hour where a = (select n from area where name = 'Lekki')`)
  expect([code, printed.toSorted()]).toEqual([
    1,
    made
      .map(
        (one) =>
          `statistics: ${one.area}, hour of ${formatIso(one.startMs)}: they are not those of its rows`,
      )
      .toSorted(),
  ])
  expect((await deep()).printed).toEqual([])
})

test('of a step from which the store may have dropped rows, statistics are not compared', async () => {
  const { store, nc } = network
  const differing = async (keptFromMs: number | undefined) => {
    const findings = collectFindings()
    // as after retention: of its first hour the store has dropped a row
    const rest: typeof store = {
      ...store,
      keptFromMs: async () => keptFromMs,
      computeBuckets: async (...asked) =>
        (await store.computeBuckets(...asked)).map((one) =>
          one.startMs > startMs ? one : { ...one, readings: one.readings - 1 },
        ),
    }
    const audited = await openDeepAudit(nc, { idPrefix: 'NGR-LOS' }, rest)
    await audited.see(rows.slice(1))
    await audited.run(findings)
    return findings.list().map(({ words }) => words)
  }
  expect(await differing(undefined)).toHaveLength(4)
  expect(await differing(startMs + 60_000)).toEqual([])
})

const first = rows[0]!
const inStore = `where t = ${first.timeMs}`
const bytes = (base64: string) => Buffer.from(base64, 'base64')

test.each<[string, string, () => void]>([
  [
    'was taken away',
    'what its device signed is not there',
    () => sql(`delete from signature ${inStore}`),
  ],
  [
    'has another text',
    'its key did not sign the text',
    () => sql(`update signature set text = replace(text, 'pm25=10', 'pm25=11') ${inStore}`),
  ],
  [
    'is another signature of the same text',
    'the signature is not the one whose hash is in its leaf',
    () =>
      sql(
        `update signature set signature = ? ${inStore}`,
        bytes(thief.sign(first.signed!.text).signature),
      ),
  ],
  [
    'is by another key',
    'the signature is not the one whose hash is in its leaf',
    () => {
      const other = thief.sign(first.signed!.text)
      sql(
        `update signature set signature = ?, key = ? ${inStore}`,
        bytes(other.signature),
        bytes(other.publicKey),
      )
    },
  ],
])('a signature that %s is found, and its row is what was anchored', async (_, why, falsify) => {
  falsify()
  // the leaf holds the hash of the true one
  expect((await network.run()).printed).toEqual([])
  const { code, printed } = await deep()
  await network.store.writeBatch([first])
  expect([code, printed]).toEqual([
    1,
    [`signature: 1 rows of ${first.sensor}: ${why}; the first at ${formatIso(first.timeMs)}`],
  ])
  expect((await deep()).code).toBe(0)
})

test('a key that the registry does not have for the time of the row is found', async () => {
  const sensors = await new Kvm(network.nc).open(buckets.sensors)
  const { sensor, timeMs } = first
  const ofSensor = rows.filter((row) => row.sensor === sensor)
  const put = async (entry: object) => {
    await sensors.put(sensor, JSON.stringify(entry))
    const { code, printed } = await deep()
    return [code, printed]
  }
  const words = (count: number, firstMs: number) => [
    1,
    [
      `signature: ${count} rows of ${sensor}: the key that signed it is not one that the registry has for that time; the first at ${formatIso(firstMs)}`,
    ],
  ]
  const { keys: _, ...without } = entryOf(sensor)
  expect(await put(without)).toEqual(words(ofSensor.length, timeMs))
  const other = { public_key: thief.sign('').publicKey }
  expect(await put(entryOf(sensor, other))).toEqual(words(ofSensor.length, timeMs))
  expect(await put(entryOf(sensor, { from: formatIso(timeMs + 1) }))).toEqual(words(1, timeMs))
  const last = ofSensor.at(-1)!.timeMs
  expect(await put(entryOf(sensor, { until: formatIso(last) }))).toEqual(words(1, last))
  expect(await put(entryOf(sensor, { until: formatIso(last + 1) }))).toEqual([0, []])
  // of a sensor that is retired the keys stay
  const retired = { ...entryOf(sensor), retired_at: formatIso(Date.now()) }
  expect(await put(retired)).toEqual([0, []])
  expect(await put(entryOf(sensor))).toEqual([0, []])
})

test('values that were anchored and are not what was signed are found', async () => {
  const text = deviceText(first.sensor, first.timeMs + 1, [['pm25', '99']])
  const signed = devices[0].sign(text)
  const made: StoreRow = {
    ...first,
    timeMs: first.timeMs + 1,
    seq: seqOf(4, rows.length + 1),
    signed,
    device: deviceWord(signed),
  }
  await network.seal([made])
  await network.store.writeBatch([made])
  await network.finalize()
  const { printed } = await deep()
  expect(printed).toContainEqual(
    expect.stringContaining(
      `signature: 1 rows of ${first.sensor}: the pm25 that was signed is not that of the reading;`,
    ),
  )
})
