import { readdirSync, readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { describe, expect, test } from 'vitest'
import { toHundredths } from '../../core/air/hundredths.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { parseIso } from '../../core/iso-time.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { schemaFiles } from '../../docs/schemas/write.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { parseSensor } from '../../schemas/devices/registered-sensor.ts'
import { sensorSchema } from '../../schemas/devices/sensor.ts'
import { type AirEvent, eventSchema } from '../../schemas/log/event.ts'
import { rawReadingSchema } from '../../schemas/log/raw-reading.ts'
import { readingsMessageSchema } from '../../schemas/log/readings-message.ts'

const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictTuples: false,
})
const compiled = {
  event: ajv.compile(eventSchema),
  'raw-reading': ajv.compile(rawReadingSchema),
  'readings-message': ajv.compile(readingsMessageSchema),
  sensor: ajv.compile(sensorSchema),
} satisfies Record<string, ValidateFunction>

type Json = Record<string, unknown>
const folder = 'schemas/examples'
const read = <T = Json>(name: string): T =>
  JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8')) as T
const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ''))
const schemaOf = (name: string): ValidateFunction => {
  const [, validate] = Object.entries(compiled).find(([prefix]) => name.startsWith(prefix)) ?? []
  if (validate === undefined) throw new Error(`${name} is an example of nothing`)
  return validate
}

test.each(names)('the example %s matches its schema', (name) => {
  const example = read<unknown>(name)
  for (const one of Array.isArray(example) ? example : [example]) {
    const validate = schemaOf(name)
    validate(one)
    expect(validate.errors).toBeNull()
  }
})

test('every schema has an example', () => {
  const shown = Object.keys(compiled).filter((prefix) =>
    names.some((name) => name.startsWith(prefix)),
  )
  expect(shown).toEqual(Object.keys(compiled))
})

describe('a broken twin of an example is refused', () => {
  const without = (name: string, key: string): Json => {
    const { [key]: _, ...rest } = read(name)
    return rest
  }
  const cases: [string, string, () => Json][] = [
    ['raw-reading-flat', 'without a time', () => without('raw-reading-flat', 'timestamp')],
    [
      'raw-reading-flat',
      'with a text for a number',
      () => read2('raw-reading-flat', { pm25: '1' }),
    ],
    [
      'raw-reading-nested',
      'nested wrongly',
      () => read2('raw-reading-nested', { measurements: 1 }),
    ],
    ['sensor', 'without sites', () => read2('sensor', { sites: [] })],
    ['sensor', 'that measures less than daily', () => read2('sensor', { cadence_seconds: 86_401 })],
    ['sensor', 'with an unknown field', () => read2('sensor', { colour: 'x' })],
    ['sensor', 'with an owner of two lines', () => read2('sensor', { owner: 'Ada\nLagos' })],
    ['sensor', 'on no place of the earth', () => siteOf({ lat: 91 })],
    ['sensor', 'in an area without a name', () => siteOf({ area: '' })],
    ['event-rise', 'without its reading', () => without('event-rise', 'reading')],
    ['event-rise', 'of another kind', () => read2('event-rise', { kind: 'offline' })],
    ['event-online', 'without a downtime', () => without('event-online', 'downtime_seconds')],
    ['event-quality', 'of an unknown level', () => read2('event-quality', { level: 'bad' })],
    ['event-offline', 'with half a second', () => read2('event-offline', { silence_seconds: 0.5 })],
    ['readings-message', 'of another version', () => read2('readings-message', { v: 1 })],
    ['readings-message', 'with a short row', () => read2('readings-message', { readings: [[1]] })],
    ['readings-message', 'with half a ms', () => read2('readings-message', { listened: 0.5 })],
    ['readings-message', 'without refusals', () => without('readings-message', 'refused')],
  ]
  const read2 = (name: string, over: Json): Json => ({ ...read(name), ...over })
  const siteOf = (over: Json): Json => {
    const [site] = read<{ sites: Json[] }>('sensor').sites
    return read2('sensor', { sites: [{ ...site, ...over }] })
  }
  test.each(cases)('%s %s', (name, _, broken) => {
    expect(schemaOf(name)(broken())).toBe(false)
  })
})

test('the example of a sensor can be registered', () => {
  expect(parseSensor(read('sensor'), sensorIdRules())?.sites).toHaveLength(2)
})

test('the hash in the examples is the leaf of their reading', async () => {
  const keccak = await createKeccak()
  for (const name of ['event-rise', 'event-online', 'event-quality']) {
    const event = read<AirEvent>(name)
    const reading = 'reading' in event ? event.reading : undefined
    const values = Object.entries(reading?.measurements ?? {}).map(([quantity, value]) => [
      quantity,
      value === null ? null : toHundredths(value),
    ])
    const time = parseIso(reading?.timestamp ?? '')
    const leaf = leafOf(
      {
        values: valuesOf(Object.fromEntries(values)),
        sensor: event.sensor_id as SensorId,
        timeMs: 'timeMs' in time ? time.timeMs : Number.NaN,
        seq: reading?.seq ?? Number.NaN,
        aqi: reading?.aqi ?? null,
      },
      keccak,
    )
    expect(reading?.hash).toBe(`0x${Buffer.from(leaf).toString('hex')}`)
  }
})

test.each(Object.entries(schemaFiles))(
  'docs/schemas/%s is current (else run docs/schemas/write.ts)',
  (name, schema) => {
    expect(JSON.parse(readFileSync(`docs/schemas/${name}`, 'utf8'))).toEqual(schema)
  },
)

test('docs/schemas holds nothing else', () => {
  const files = readdirSync('docs/schemas').filter((name) => name.endsWith('.json'))
  expect(files.toSorted()).toEqual(Object.keys(schemaFiles).toSorted())
})
