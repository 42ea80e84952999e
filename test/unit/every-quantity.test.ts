/** Places that list the quantities: none may stop after the first few, which no other test would notice. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { measurementsJson } from '../../api/areas/area-json.ts'
import { usualView } from '../../api/live/view.ts'
import { openApi } from '../../api/openapi/document.ts'
import { proofPageAnswer } from '../../api/proofs/proof-page.ts'
import { readingTypes, writeReadings } from '../../api/readings/reading-formats.ts'
import { fieldsOf } from '../../cli/applications.ts'
import { shownValues } from '../../cli/audit/api-rows.ts'
import { rowParser } from '../../cli/export/parse-row.ts'
import { type ExportedRow, headOf, rowLine } from '../../cli/export/row-line.ts'
import { droppedMask } from '../../core/air/quality.ts'
import { basicNames, quantities, quantityNames } from '../../core/air/quantities.ts'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { fewestValues, sameValues, valuesOf } from '../../core/air/values.ts'
import { wordsOfFlag } from '../../dashboard/web/pages/sensor/words.ts'
import { namesOf } from '../../dashboard/web/parts/air/quantity-names.ts'
import { esphomeQuantity } from '../../gate/devices/esphome.ts'
import { openDraft } from '../../gate/devices/mapped.ts'
import { mapDecoded } from '../../gate/devices/uplink.ts'
import { rangeFault, rawItem } from '../../gate/push/raw-item.ts'
import { readingsEndpoint } from '../../gate/push/readings-endpoint.ts'
import { createJoiner } from '../../gate/topics/join-parts.ts'
import { rowFormats } from '../../operate/exports/manifest-schema.ts'
import { judge } from '../../pipeline/decide/judge.ts'
import { applicationFault } from '../../schemas/devices/application.ts'
import { parseSensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { isRawReading } from '../../schemas/log/raw-reading.ts'
import { measurements } from '../../schemas/measured.ts'
import { areaStats } from '../../store/stat-fields.ts'
import { readingOf } from '../support/readings.ts'

const timestamp = '2026-01-15T10:30:00Z'
const id = 'NGR-LOS-IKJ-017'
const sensor = parseSensor(
  {
    id,
    cadence_seconds: 300,
    created_at: '2020-01-01T00:00:00Z',
    sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: 'GRA' }],
  },
  sensorIdRules(),
) as RegisteredSensor

const created_at = timestamp
const application = {
  id: 'city',
  kind: 'ttn',
  credential: { hash: '0'.repeat(64), created_at },
  created_at,
}

/** What the gate makes of a push of one reading. */
const pushed = (body: unknown) =>
  readingsEndpoint({
    sensorOf: () => sensor,
    nowMs: () => Date.parse(timestamp),
    earliestMs: 0,
    arrival: () => Date.parse(timestamp),
  }).prepare({ caller: id, body } as never)

const valuesOfRaw = (item: unknown) => {
  const arrivedMs = Date.parse(timestamp)
  const verdict = judge(
    item,
    { rawSeq: 1, item: 0, sensor: id, arrivedMs, isAgain: false },
    {
      partition: partitionOf(id),
      sensorOf: () => sensor,
      earliestMs: 0,
      mayBeLate: () => true,
      level: { current: () => newestLevel },
    },
  )
  return 'values' in verdict ? verdict.values : verdict.reason
}

describe.each(quantities.map((row, at) => ({ name: row.name, row, at })))(
  '$name',
  ({ name, row, at }) => {
    const hundredths = row.hard.high
    const value = hundredths / 100
    const values = valuesOf({ [name]: hundredths })

    test('is taken flat and nested, and as a number: of the basic five else refused, of others ignored', () => {
      expect(valuesOfRaw({ timestamp, [name]: value })).toEqual(values)
      expect(valuesOfRaw({ timestamp, measurements: { [name]: value } })).toEqual(values)
      expect(measurements.properties).toHaveProperty(name)
      const isBasic = basicNames.some((basic) => basic === name)
      expect(isRawReading({ timestamp, [name]: '1' })).toBe(!isBasic)
      expect(isRawReading({ timestamp, measurements: { [name]: '1' } })).toBe(!isBasic)
      expect(valuesOfRaw({ timestamp, pm25: 1, [name]: isBasic ? 1 : '1' })).toEqual(
        valuesOf({ pm25: 100, ...(isBasic ? { [name]: 100 } : {}) }),
      )
    })

    test('is missed where it is left out, and where it was dropped', () => {
      const other = name === 'pm25' ? 'pm10' : 'pm25'
      const [some, none] = [valuesOf({ [other]: 100, [name]: 1 }), valuesOf({ [other]: 100 })]
      expect([sameValues(some, none), sameValues(none, some)]).toEqual([false, false])
      expect(valuesOfRaw({ timestamp, [other]: 1, [name]: value + 0.01 })).toEqual(none)
      expect(droppedMask & (1 << row.droppedFlag)).not.toBe(0)
    })

    test('comes through the gate', () => {
      const drafted = mapDecoded({ key: 1 }, { [name]: 'key' }, 0)
      expect(drafted).toMatchObject({ fields: { [name]: 1 } })
      expect(openDraft().end('it is empty')).toEqual({ refused: 'it is empty' })
      const draft = openDraft()
      draft.take(name, 'key', value)
      expect(draft.end('it is empty')).toMatchObject({ fields: { [name]: value } })
      expect(esphomeQuantity('an_object_of_its_own', { [name]: 'an_object_of_its_own' })).toBe(name)
      expect(
        JSON.parse(pushed({ timestamp, [name]: value }).messages[0]?.body ?? ''),
      ).toMatchObject({
        [name]: value,
      })
      expect(() => pushed({ timestamp })).toThrow(name)
      expect(rawItem({ [name]: value }, 0, false)).toMatchObject({ [name]: value })
      expect(rangeFault({ [name]: value })).toBeUndefined()
      expect(rangeFault({ [name]: value + 0.01 })?.field).toBe(name)
      expect(applicationFault({ ...application, fields: { [name]: 'key' } })).toBeUndefined()
      expect(applicationFault({ ...application, fields: { other: 'key' } })).toMatch(
        new RegExp(`\\b${name}\\b`),
      )
    })

    test('is waited for where numbers come one by one', () => {
      const joiner = createJoiner<string>()
      const part = { sensor: id, value, timeMs: 0, token: '' }
      for (const other of quantityNames.filter((one) => one !== name))
        expect(joiner.take({ ...part, quantity: other }, 0)).toEqual([])
      expect(joiner.take({ ...part, quantity: name }, 0)).toMatchObject([
        { fields: { [name]: value } },
      ])
    })

    test('is known to the commands and the pages', () => {
      expect(fieldsOf([`${name}=key`])).toEqual({ [name]: 'key' })
      expect(() => fieldsOf(['other=key'])).toThrow(new RegExp(`\\b${name}\\b`))
      expect(shownValues({ [name]: value })).toEqual(values)
      const { short } = namesOf(name)
      expect(wordsOfFlag(`dropped_${name}`)).toBe(`${short} was not possible: left out`)
      expect(short).not.toBe(name)
    })

    test('is in CSV, which has a column for every quantity that a reading of the page has', () => {
      const page = { readings: [{ ...readingOf({}), values }], fields: {} }
      const onChain = { verified: false, tx_hash: null, status: 'pending' } as const
      const texts = {
        hashOf: () => '0x0',
        onChainOf: () => onChain,
        textOf: () => '',
        isPassing: false,
      }
      const [head = '', line = ''] = String(
        writeReadings(
          readingTypes.csv,
          { ...page, view: usualView },
          { texts, registered: () => sensor },
        ),
      ).split('\r\n')
      expect(line.split(',')[head.split(',').indexOf(name)]).toBe(String(value))
    })

    test('is in the document, wherever a reading, a leaf or statistics are', () => {
      const { schemas } = openApi.components
      const { Measurements, Reading, FlatReading, MeasurementStatistics, Sensor, PickedSensor } =
        schemas
      const withReadings = [Measurements, Reading, FlatReading, Sensor, PickedSensor]
      const leaf = schemas.Verification.properties.reading
      for (const { properties } of [...withReadings, MeasurementStatistics, leaf])
        expect(properties).toHaveProperty(name)
    })

    test('is on the page of a proof', () => {
      const { body } = proofPageAnswer({
        reading: { ...readingOf({}), values },
        verdict: { status: 'pending', hash: '0x0' },
        link: 'https://air.example/proof',
        network: {
          name: 'Lagos',
          chain: null,
          contracts: [],
          attribution: 'A Network',
          licence: 'CC-BY-4.0',
          archive: null,
        },
      })
      expect(String(body)).toMatch(new RegExp(`<t[hd][^>]*>${name}<`))
    })

    test('is in statistics and exports', () => {
      const stats = areaStats('Ikeja', { startMs: 0, readings: 1, failed: 0 }, (field) => {
        const n = field === name ? 1 : 0
        return { n, mean: 1, min: 1, max: 1, p50: 1, p98: 1, sd: null, q02: 1, q25: 1, q75: 1 }
      })
      expect(measurementsJson(stats)).toHaveProperty(name)
      const { sensor: of, timeMs, seq, aqi } = readingOf({})
      const common = { sensor: of, timeMs, seq, aqi, values }
      const inLeaf1 = { hash: `0x${'1'.repeat(64)}`, batch: 1, reading: common } as const
      const inLeaf2 = {
        ...inLeaf1,
        reading: { ...common, leafVersion: 2, area: 'Ikeja', flags: 0 },
      } as const
      const comesBack = (row0: ExportedRow, version: 1 | 2) => {
        for (const format of rowFormats) {
          const [head, line] = [headOf(format, version), rowLine(row0, format, version)]
          expect(rowParser(format, head.trimEnd())(line.trimEnd())).toEqual(row0)
        }
      }
      comesBack(inLeaf2, 2)
      // which a leaf of version 1 does not hold, so nothing would prove it
      const kept = at < fewestValues ? values : values.slice(0, fewestValues)
      for (const format of rowFormats)
        expect(rowLine(inLeaf1, format, 1)).toBe(
          rowLine({ ...inLeaf1, reading: { ...common, values: kept } }, format, 1),
        )
      for (const version of [1, 2] as const)
        comesBack({ ...inLeaf1, reading: { ...common, values: kept } }, version)
      expect(quantityNames[at]).toBe(name)
    })
  },
)

test('docs/sensors.md has the range of every quantity', () => {
  const page = readFileSync('docs/sensors.md', 'utf8')
  const number = (text: string): number => Number(text.replaceAll(',', '').replace('−', '-'))
  const rows = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| [^|]+ \| (\S+) to (\S+) \|/gm)]
  const ranges = rows.flatMap(([, names = '', low = '', high = '']) =>
    [...names.matchAll(/\w+/g)].map(([name]) => [
      name,
      { low: number(low) * 100, high: number(high) * 100 },
    ]),
  )
  expect(Object.fromEntries(ranges)).toEqual(
    Object.fromEntries(quantities.map(({ name, hard }) => [name, hard])),
  )
})
