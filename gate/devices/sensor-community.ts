/**
 * The format in which firmware pushes to sensor.community itself: one request per sensor of the
 * box, names without a prefix, and the header X-PIN for which sensor it is.
 */
import { parseIso } from '../../core/iso-time.ts'
import { type Draft, hectopascalOf, isObject, type Mapped, openDraft } from './mapped.ts'
import { noValueList, readValueList } from './value-list.ts'

const particlePin = '1'

/** Which sensor is on which (virtual) pin, as the firmware fixes it. */
const pins: ReadonlyMap<string, string> = new Map([
  [particlePin, 'particles'],
  ['3', 'BMP180, BMP280'],
  ['5', 'PPD42NS'],
  ['7', 'DHT22, HTU21D, SHT3x'],
  ['9', 'GPS'],
  ['11', 'BME280'],
  ['13', 'DS18B20'],
  ['15', 'noise'],
  ['17', 'SCD30'],
])

/** @param pin the header X-PIN @param body the parsed JSON of the request */
export function mapSensorCommunity(body: unknown, pin: string | undefined): Mapped {
  const values = readValueList(body)
  if (values === undefined) return { refused: noValueList }
  if (pin === undefined)
    return { refused: 'the header X-PIN is missing: it names the sensor of the values' }
  const draft = openDraft()
  for (const [name, key] of [
    ['pm25', 'P2'],
    ['pm10', 'P1'],
    ['pm1', 'P0'],
    ['pm4', 'P4'],
  ] as const) {
    if (pin === particlePin) draft.take(name, key, values.get(key))
    else if (values.has(key)) draft.ignore(key, `PIN ${pin.slice(0, 8)} sends ${particlesOf(pin)}`)
  }
  draft.take('co2', 'co2_ppm', values.get('co2_ppm'))
  draft.take('temperature', 'temperature', values.get('temperature'))
  draft.take('humidity', 'humidity', values.get('humidity'))
  draft.take('pressure', 'pressure', values.get('pressure'), hectopascalOf)
  draft.take('noise', 'noise_LAeq', values.get('noise_LAeq'))
  return draft.end(undefined, timeOf(body, draft))
}

const particlesOf = (pin: string): string =>
  pin === '5' ? 'counts, not µg/m³' : `no particles (${pins.get(pin) ?? 'a pin that is not known'})`

/** Firmware sends none; the network's server takes one, in UTC where it names no offset. */
function timeOf(body: unknown, draft: Draft): number | undefined {
  const text = isObject(body) ? body['timestamp'] : undefined
  if (text === undefined || text === null) return undefined
  const time = parseIso(typeof text === 'string' ? text : '')
  if ('timeMs' in time) return time.timeMs
  if (time.asUtcMs !== undefined) return time.asUtcMs
  draft.ignore('timestamp', 'it is not an ISO date-time, so the time of arrival is used')
  return undefined
}
