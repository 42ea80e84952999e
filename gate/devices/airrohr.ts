/**
 * sensor.community's airRohr firmware (and Nettigo's, which sends the same shape) with "Send data
 * to custom API": every value a text, particles by the prefix of their sensor, no clock.
 */
import { type Draft, hectopascalOf, isObject, type Mapped, numberOf, openDraft } from './mapped.ts'
import { noValueList, readValueList } from './value-list.ts'

/** What a particle sensor measures, by the end of the key. */
const particles = [
  ['pm25', '_P2'],
  ['pm10', '_P1'],
  ['pm1', '_P0'],
  ['pm4', '_P4'],
] as const
/** The first that has a value is taken. */
const particleSensors = ['SDS', 'PMS', 'SPS30', 'HPM', 'NPM', 'IPS']

/** First those that measure both, so that temperature and humidity are of one place. */
const climateSensors = ['BME280_', 'SHT3X_', 'HTU21D_', 'SCD30_', '', 'BMP280_', 'BMP_', 'DS18B20_']

type Values = ReadonlyMap<string, unknown>

/** @param body the parsed JSON of a request */
export function mapAirrohr(body: unknown): Mapped {
  const values = readValueList(body)
  if (values === undefined) return { refused: noValueList }
  const draft = openDraft()
  takeParticles(draft, values)
  draft.take('co2', 'SCD30_co2_ppm', values.get('SCD30_co2_ppm'))
  draft.take('co2', 'conc_co2_ppm', values.get('conc_co2_ppm'))
  takeClimate(draft, values)
  takePressure(draft, values)
  draft.take('noise', 'DNMS_noise_LAeq', values.get('DNMS_noise_LAeq'))
  for (const key of ['P1', 'P2'])
    if (values.has(key)) draft.ignore(key, 'without a prefix it is a count of a PPD42NS, not µg/m³')
  return draft.end()
}

function takeParticles(draft: Draft, values: Values): void {
  const present = particleSensors.filter((sensor) =>
    [`${sensor}_P2`, `${sensor}_P1`].some((key) => values.has(key)),
  )
  const chosen =
    present.find((sensor) =>
      [`${sensor}_P2`, `${sensor}_P1`].some((key) => numberOf(values.get(key)) !== undefined),
    ) ?? present[0]
  if (chosen === undefined) return
  for (const [name, end] of particles)
    draft.take(name, `${chosen}${end}`, values.get(`${chosen}${end}`))
  for (const other of present)
    if (other !== chosen) draft.ignore(`${other}_P*`, `the particles are those of the ${chosen}`)
}

/** A second thermometer is left out without a note: most boxes have one. */
function takeClimate(draft: Draft, values: Values): void {
  for (const name of ['temperature', 'humidity'] as const) {
    const keys = climateSensors.map((prefix) => prefix + name).filter((key) => values.has(key))
    const key = keys.find((name) => numberOf(values.get(name)) !== undefined) ?? keys[0]
    if (key !== undefined) draft.take(name, key, values.get(key))
  }
}

/** In Pa. */
function takePressure(draft: Draft, values: Values): void {
  const keys = ['BME280_pressure', 'BMP280_pressure', 'BMP_pressure']
  const key = keys.find((name) => numberOf(values.get(name)) !== undefined)
  if (key !== undefined) draft.take('pressure', key, values.get(key), hectopascalOf)
}

/** The chip's id as the body names it, or undefined. */
export function airrohrChipOf(body: unknown): string | undefined {
  const id = isObject(body) ? body['esp8266id'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}
