/**
 * Each quantity of the table goes all the way, from what a sensor sends to every answer; and so does
 * one that is no more than another row of the table.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../api/openapi/document.ts'
import { rowParser } from '../../cli/export/parse-row.ts'
import { headOf, rowLine } from '../../cli/export/row-line.ts'
import { namesOf } from '../../core/air/quality.ts'
import {
  basicNames,
  mapQuantities,
  type QuantityName,
  quantities,
  quantityNames,
  units,
} from '../../core/air/quantities.ts'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { mostValues, valueOf, valuesOf } from '../../core/air/values.ts'
import { toHex } from '../../core/hex.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { newestOf } from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { esphomeQuantity, usualNames } from '../../gate/devices/esphome.ts'
import { occurrenceOfEvent, occurrenceOfReading } from '../../notifier/sources/payload.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readSnapshot } from '../../runtime/nats/read-snapshot.ts'
import { applicationFault } from '../../schemas/devices/application.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { decodeReadings, encodeReadings } from '../../schemas/log/readings-message.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import { readingLines } from '../../store/influx/reading-lines.ts'
import { readingOf as influxReading, readingFields } from '../../store/influx/row.ts'
import { packReadings } from '../../store/packed-readings.ts'
import { copiedTree } from '../mutants/copied-tree.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'

const keccak = await createKeccak()
const nowMs = Math.floor(Date.now() / 1_000) * 1_000
const idOf = (n: number): string => `NGR-LOS-IKJ-${String(n).padStart(3, '0')}`
const [flat, nested, dropped, base] = [idOf(1), idOf(2), idOf(3), idOf(4)] as const

/** Believable and usual, another for each quantity, in hundredths. */
const hundredths = mapQuantities(({ hard, usual = hard }, id) =>
  Math.floor(usual.low + (usual.high - usual.low) * 0.3 + id * 7),
)
const values = valuesOf(hundredths)
const inUnits = mapQuantities(({ name }) => hundredths[name] / 100)
/** One sensor a quantity: it measures the basic ones and this. */
const only = (name: QuantityName): string => idOf(100 + quantityNames.indexOf(name))

describe('every quantity', () => {
  let pipeline: TestPipeline
  let reading: ArrivedReading
  beforeAll(async () => {
    pipeline = await testPipeline()
    const system = await new Kvm(pipeline.nc).open(buckets.system)
    await system.put(systemKeys.format, JSON.stringify({ level: newestLevel }))
    await pipeline.register(...[flat, nested, dropped, base].map((id) => entryOf(id)))
    await pipeline.register(...quantityNames.map((name) => entryOf(only(name))))
    await eventually('the level is known', async () => {
      const timestamp = new Date(Date.now() - 20 * minuteMs).toISOString()
      await pipeline.publish(base, { timestamp, ...inUnits })
      const { accepted } = await pipeline.outcomeOf(base)
      return accepted.at(-1)?.values.length === mostValues
    })
    const timestamp = new Date(nowMs).toISOString()
    await pipeline.publish(flat, { timestamp, ...inUnits })
    await pipeline.publish(nested, { timestamp, measurements: inUnits })
    for (const { name, hard } of quantities) {
      await pipeline.publish(only(name), { timestamp, ...inUnits, [name]: hard.high / 100 + 1 })
    }
    const [accepted] = (await pipeline.outcomeOf(flat)).accepted
    reading = accepted!
  })
  afterAll(() => pipeline[Symbol.asyncDispose]())

  test('is taken flat and nested, and is in the log', async () => {
    expect(reading.values).toEqual(values)
    expect(reading.flags).toBe(0)
    expect((await pipeline.outcomeOf(nested)).accepted).toMatchObject([{ values, flags: 0 }])
  })

  test.each(quantityNames)(
    '%s beyond belief is dropped alone, with its flag and its bytes',
    async (name) => {
      const { accepted, partials } = await pipeline.outcomeOf(only(name))
      expect(accepted).toHaveLength(1)
      expect(valueOf(accepted[0]!.values, name)).toBeNull()
      expect(accepted[0]!.values).toEqual(valuesOf({ ...hundredths, [name]: null }))
      expect(namesOf(accepted[0]!.flags)).toContain(`dropped_${name}`)
      expect(partials).toHaveLength(1)
    },
  )

  test.each(quantityNames)('%s alone makes a repeat a conflict, early and late', async (name) => {
    const sensor = idOf(200 + quantityNames.indexOf(name))
    await pipeline.register(entryOf(sensor))
    const other = { ...inUnits, [name]: inUnits[name] + 0.01 }
    const early = new Date(nowMs - 10 * minuteMs).toISOString()
    const late = new Date(nowMs - 20 * minuteMs).toISOString()
    for (const timestamp of [early, late]) {
      await pipeline.publish(sensor, { timestamp, ...inUnits })
      await pipeline.publish(sensor, { timestamp, ...inUnits })
      await pipeline.publish(sensor, { timestamp, ...other })
    }
    const { accepted, duplicates, refused } = await pipeline.outcomeOf(sensor)
    expect([accepted.length, duplicates]).toEqual([2, 2])
    expect(refused.map(({ reason }) => reason)).toEqual(['conflict', 'conflict'])
  })

  test('is in the event, and in what its webhook gets', async () => {
    const { events } = await pipeline.outcomeOf(flat)
    const online = events.find(({ kind }) => kind === 'online')
    expect(online && 'reading' in online && online.reading.measurements).toEqual(inUnits)
    const rise = events.find(({ kind }) => kind === 'rise')
    const high = rise && occurrenceOfEvent(rise, 'aqi.high', 100)
    expect(high?.payload.data).toMatchObject({ measurements: inUnits })
    const { payload } = occurrenceOfReading(reading, undefined, keccak)
    expect(payload.data).toMatchObject({ measurements: inUnits })
    const ajv = new Ajv({ strict: false })
    expect(ajv.validate(payloadSchemas['reading.new'], payload)).toBe(true)
    expect(ajv.validate(payloadSchemas['aqi.high'], high?.payload)).toBe(true)
  })

  test('is in the store and in its statistics', async () => {
    const { store } = pipeline
    await eventually(
      'it is stored',
      async () => (await store.at(reading.sensor, nowMs)) !== undefined,
    )
    expect(await store.at(reading.sensor, nowMs)).toMatchObject({ values })
    const stats = await store.computeOverall(reading.area, nowMs, nowMs + 1)
    for (const name of quantityNames) {
      expect(stats?.fields[name].max).toBeCloseTo(inUnits[name])
      // of all but the sensor whose value was dropped, and those whose particles were: they failed
      const without = new Set([name, 'pm25', 'pm10'])
      expect(stats?.fields[name].n).toBe(2 + quantityNames.length - without.size)
    }
    expect(stats).toMatchObject({ failed: 2, readings: quantityNames.length })
  })

  test('is in the snapshot that the next start and the API begin with', async () => {
    await pipeline.stop()
    const snapshot = await readSnapshot(pipeline.nc, partitionOf(reading.sensor))
    const slot = snapshot?.state.slots.get(reading.sensor)
    expect(newestOf(snapshot!.state, slot!)).toMatchObject({ values, seq: reading.seq })
  })

  test('is in a message of the log at the newest level', () => {
    const message = {
      ...empty,
      nLast: 1,
      readings: [reading],
      deferred: [{ ...reading, ...place }],
    }
    const read = decodeReadings(message, encodeReadings(message, newestLevel))
    expect([read.readings[0]?.values, read.deferred[0]?.values]).toEqual([values, values])
  })

  test('is in a line of InfluxDB, and read from its columns', () => {
    const line = readingLines()([packReadings([reading])])
    for (const name of quantityNames) expect(line).toContain(`${name}=${inUnits[name]},`)
    const { timeMs, aqi, flags, seq, area, sensor } = reading
    const cells: Record<string, string | number | null> = { aqi, flags, seq, area, ...inUnits }
    const row = [timeMs, ...readingFields.split(', ').map((name) => cells[name] ?? null), sensor]
    expect(influxReading(row)).toMatchObject([{ values }])
  })

  test.each(['csv', 'ndjson'] as const)('is in an export as %s', (format) => {
    const inLeaf2 = { ...reading, leafVersion: 2 } as const
    const row = { reading: inLeaf2, hash: toHex(leafOf(inLeaf2, keccak)), batch: 7 }
    const line = rowLine(row, format, 2).trimEnd()
    expect(rowParser(format, headOf(format, 2).trimEnd())(line)).toMatchObject({
      reading: { values },
      batch: 7,
    })
  })

  test.each(quantityNames)('%s may be named by an application and by an ESPHome entry', (name) => {
    const credential = { salt: 'AAAA', hash: 'AAAA', created_at: '2026-01-01T00:00:00Z' }
    const entry = { id: 'roofs', kind: 'ttn', credential, fields: { [name]: 'x' } }
    const fault = applicationFault({ ...entry, created_at: '2026-01-01T00:00:00Z' })
    expect(fault ?? '').not.toContain('fields')
    expect(esphomeQuantity('my_own', { [name]: 'my_own' })).toBe(name)
    for (const usual of usualNames[name] ?? []) expect(esphomeQuantity(usual)).toBe(name)
  })

  describe('in the API', () => {
    let api: TestApi
    beforeAll(async () => {
      api = await testApi()
      await api.register({ id: flat })
      await api.register({ id: nested })
      await api.commit([
        { sensor: flat, timeMs: nowMs, values, leafVersion: 2 },
        { sensor: nested, timeMs: nowMs, values: valuesOf({ pm25: 1_000 }) },
      ])
    })
    afterAll(() => api[Symbol.asyncDispose]())
    const ask = async (path: string): Promise<unknown> => {
      const answer = await api.get(path)
      expect(answer.status).toBe(200)
      return answer.json()
    }

    test('is in a reading, in each shape, and not where it was not measured', async () => {
      const full = await ask(`/v1/readings?sensor_id=${flat}&limit=1`)
      expect(full).toMatchObject({ readings: [{ ...inUnits, measurements: inUnits }] })
      const shaped = async (shape: string) => ask(`/v1/readings?sensor_id=${flat}&shape=${shape}`)
      expect(await shaped('flat')).toMatchObject({ readings: [inUnits] })
      expect(await shaped('nested')).toMatchObject({ readings: [{ measurements: inUnits }] })
      const bare = await ask(`/v1/readings?sensor_id=${nested}&limit=1`)
      const [first] = (bare as { readings: { measurements: object }[] }).readings
      expect(Object.keys(first!.measurements)).toEqual(basicNames)
      expect(await ask(`/v1/sensors/${flat}/status`)).toMatchObject({ latest: inUnits })
    })

    test('is in CSV, by its name in the head', async () => {
      const text = await (await api.get(`/v1/readings?sensor_id=${flat}&format=csv`)).text()
      const [head = [], row = []] = text.split('\r\n').map((line) => line.split(','))
      for (const name of quantityNames) expect(row[head.indexOf(name)]).toBe(String(inUnits[name]))
    })

    test('is in the statistics of its area', async () => {
      const start = formatIsoMs(nowMs - minuteMs)
      const answer = await ask(`/v1/areas/Ikeja?start_time=${start}`)
      for (const name of quantityNames) {
        const { measurements } = answer as { measurements: Record<string, unknown> }
        expect(measurements[name]).toMatchObject({ max: inUnits[name], unit: units[name] })
      }
    })

    test('is in the document', () => {
      const { schemas } = openApi.components
      for (const name of quantityNames) {
        for (const schema of [schemas.Reading, schemas.FlatReading, schemas.Measurements])
          expect(Object.keys(schema.properties)).toContain(name)
        expect(Object.keys(schemas.MeasurementStatistics.properties)).toContain(name)
      }
    })

    test('is in leaf 2, and leaf 1 holds the basic ones alone', async () => {
      const answer = await ask(`/v1/readings/${flat}/verify?timestamp=${formatIsoMs(nowMs)}`)
      expect(answer).toMatchObject({ reading: { ...hundredths, leaf_version: 2 } })
      const { leafVersion, ...ofLeaf1 } = reading
      expect(leafVersion).toBe(2)
      for (const id of quantityNames.keys()) {
        const less = values.with(id, null)
        expect(leafOf({ ...reading, values: less }, keccak)).not.toEqual(leafOf(reading, keccak))
        if (id < basicNames.length) continue
        expect(leafOf({ ...ofLeaf1, values: less }, keccak)).toEqual(leafOf(ofLeaf1, keccak))
      }
    })
  })
})

const place = { rawSeq: 1, item: 0 }
const empty = {
  partition: 0,
  worker: 'test',
  rawLast: 1,
  rawLastTimeMs: 1,
  lateTo: 0,
  listenedMs: 0,
  events: [],
  held: [],
  refused: [],
  duplicates: [],
}

/**
 * A copy of the sources with one more row in the table, and nothing else changed: the tests above run
 * there too. `tsc` reads it as well, since a type that spells the quantities out would be found by it.
 */
test('a quantity that is one more row of the table goes all the way', {
  timeout: 600_000,
}, async () => {
  using folder = copiedTree(resolve(import.meta.dirname, '../..'))
  const table = join(folder.path, 'core/air/quantities.ts')
  const text = readFileSync(table, 'utf8')
  const end = '] as const satisfies readonly Row[]'
  expect(text.split(end)).toHaveLength(2)
  writeFileSync(table, text.replace(end, `${madeUp}\n${end}`))
  const run = async (args: readonly string[]): Promise<string> => {
    const child = spawn(process.execPath, args, { cwd: folder.path })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    const [code] = await once(child, 'close')
    expect([code, printed]).toEqual([0, printed])
    return printed
  }
  await run(['node_modules/typescript/bin/tsc', '-p', '.'])
  const printed = await run([
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=verbose',
    '--retry=0',
    'test/stack/every-quantity.test.ts',
    '-t',
    'every quantity',
  ])
  expect(printed).toContain('radon beyond belief')
})

const madeUp = `  {
    name: 'radon',
    level: 2,
    unit: 'Bq/m³',
    hard: { low: 0, high: 10_000_00 },
    usual: { low: 0, high: 300_00, flag: 24 },
    decimals: 0,
    droppedFlag: 23,
    short: 'Radon',
    long: 'Radon',
  },`
