/**
 * Tasmota's `tele/<Topic>/SENSOR`: an object per driver, each with its own quantities; temperatures
 * in the unit of `TempUnit`; `Time` is the device's local time, without a zone unless `SetOption52
 * 1` adds it.
 */
import type { QuantityName } from '../../core/air/quantities.ts'
import { parseIso } from '../../core/iso-time.ts'
import { celsiusOf, type Draft, isObject, type Mapped, numberOf, openDraft } from './mapped.ts'

type Body = Readonly<Record<string, unknown>>
type Driver = readonly [name: string, values: Body]

/** Those that measure the air and nothing else, best first; others only where there is none. */
const climateSensors = ['BME280', 'BME680', 'SHT', 'HTU21', 'AM23', 'DHT', 'SCD', 'BMP', 'DS18B20']
/** Thermometers of a chip and of a lamp, many degrees above the air. */
const warmDrivers = ['ESP32', 'MHZ19B']

/** 2015-01-01: a clock that was never set starts in 1970. */
const earliestClockMs = 1_420_070_400_000

/** @param body the parsed JSON of a message */
export function mapTasmota(body: unknown): Mapped {
  if (!isObject(body)) return { refused: 'the body must be an object, as tele/…/SENSOR shows' }
  const drivers = Object.entries(body).filter((entry): entry is [string, Body] =>
    isObject(entry[1]),
  )
  const draft = openDraft()
  takeFirst(draft, drivers, 'pm25', ['PM2.5', 'PM2_5'])
  takeFirst(draft, drivers, 'pm10', ['PM10'])
  takeFirst(draft, drivers, 'pm1', ['PM1', 'PM1_0'])
  takeFirst(draft, drivers, 'pm4', ['PM4', 'PM4_0'])
  takeFirst(draft, drivers, 'co2', ['CarbonDioxide'])
  const ranked = byRank(drivers)
  takeTemperature(draft, ranked, body['TempUnit'])
  takeFirst(draft, ranked, 'humidity', ['Humidity'])
  takePressure(draft, ranked, body['PressureUnit'])
  takeFirst(draft, drivers, 'tvoc', ['TVOC'])
  const indices = drivers.filter(([driver]) => driver.startsWith('SEN5X'))
  takeFirst(draft, indices, 'voc_index', ['VOC'])
  takeFirst(draft, indices, 'nox_index', ['NOx'])
  // a build without sensors sends only the time, which is not a fault
  return draft.end(undefined, timeOf(body['Time'], draft))
}

/** The first driver with a number under one of the keys; a second sensor is left out silently. */
function takeFirst(
  draft: Draft,
  drivers: readonly Driver[],
  name: QuantityName,
  keys: readonly string[],
  convert?: (value: number) => number,
): void {
  const numbers = drivers.flatMap(([driver, values]) =>
    keys.filter((key) => values[key] !== undefined).map((key) => ({ driver, key, values })),
  )
  const chosen =
    numbers.find(({ key, values }) => numberOf(values[key]) !== undefined) ?? numbers[0]
  if (chosen) draft.take(name, `${chosen.driver}.${chosen.key}`, chosen.values[chosen.key], convert)
}

/** A second sensor of a kind has its address after its name: `BME280-76`. */
const byRank = (drivers: readonly Driver[]): readonly Driver[] =>
  drivers
    .filter(([driver]) => !warmDrivers.includes(driver))
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b))

function rankOf(driver: string): number {
  const rank = climateSensors.findIndex((known) => driver.startsWith(known))
  return rank === -1 ? climateSensors.length : rank
}

function takeTemperature(draft: Draft, drivers: readonly Driver[], unit: unknown): void {
  const having = drivers.filter(([, values]) => values['Temperature'] !== undefined)
  const [driver, values] =
    having.find(([, known]) => numberOf(known['Temperature']) !== undefined) ?? having[0] ?? []
  if (values === undefined) return
  const key = `${driver}.Temperature`
  if (unit === 'C') draft.take('temperature', key, values['Temperature'])
  else if (unit === 'F') draft.take('temperature', key, values['Temperature'], celsiusOf)
  else draft.ignore(key, 'TempUnit is neither C nor F')
}

/** hPa unless the device is set to mmHg (`SetOption24`). */
function takePressure(draft: Draft, drivers: readonly Driver[], unit: unknown): void {
  const convert = unit === 'mmHg' ? (value: number) => value * hPaPerMmHg : undefined
  if (unit === 'hPa' || unit === 'mmHg')
    takeFirst(draft, drivers, 'pressure', ['Pressure'], convert)
  else if (drivers.some(([, values]) => values['Pressure'] !== undefined))
    draft.ignore('Pressure', 'PressureUnit is neither hPa nor mmHg')
}
const hPaPerMmHg = 1.333_22

function timeOf(time: unknown, draft: Draft): number | undefined {
  const parsed = parseIso(typeof time === 'string' ? time : '')
  if (!('timeMs' in parsed)) return undefined
  if (parsed.timeMs >= earliestClockMs) return parsed.timeMs
  draft.ignore('Time', 'the clock was never set, so the time of arrival is used')
  return undefined
}
