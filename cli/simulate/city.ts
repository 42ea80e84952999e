import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import type { NetworkSettings } from '../../runtime/process/network-settings.ts'
import { areasIn, type CityArea } from './areas.ts'
import { bell, chanceOf } from './chance.ts'
import type { DeviceSigner } from './device-keys.ts'

/** A simulated sensor: its place, and its own biases. */
export type CitySensor = {
  readonly index: number
  readonly id: SensorId
  readonly area: CityArea
  readonly lat: number
  readonly lon: number
  readonly address: string
  /** The factor of its street on the city's particles: about 1. */
  readonly exposure: number
  /** Its constant errors, °C and %RH. */
  readonly temperatureOffset: number
  readonly humidityOffset: number
  /** Indoor-like sites hold more CO2, in ppm. */
  readonly co2Offset: number
  /** It signs its readings; absent: it does not. */
  readonly signer?: DeviceSigner
}

/** As the settings name it. */
export type SimulatedNetwork = Pick<NetworkSettings, 'name' | 'idPrefix' | 'box'>

export type CityPlan = {
  readonly sensors: number
  readonly seed: number
  /** The number of the first sensor of each area. */
  readonly firstNumber: number
  readonly network: SimulatedNetwork
  readonly rules: SensorIdRules
}

/** Sensors spread over the areas, each with its own number there. The same plan, the same city. */
export function planCity({
  sensors,
  seed,
  firstNumber,
  network: { name, idPrefix, box },
  rules,
}: CityPlan): readonly CitySensor[] {
  const draw = chanceOf(seed)
  const areas = areasIn(box)
  return Array.from({ length: sensors }, (_, index) => {
    const area = areas[index % areas.length]
    const number = Math.floor(index / areas.length) + firstNumber
    const id = area && rules.parse(`${idPrefix}-${area.code}-${String(number).padStart(3, '0')}`)
    if (area === undefined || id === undefined) throw new RangeError(`no id for sensor ${index}`)
    const street = area.streets[Math.floor(draw(index, 1) * area.streets.length)] ?? ''
    const house = 1 + Math.floor(draw(index, 2) * 90)
    return {
      index,
      id,
      area,
      lat: roundTo(area.lat + (draw(index, 3) - 0.5) * 2 * area.spread, 4),
      lon: roundTo(area.lon + (draw(index, 4) - 0.5) * 2 * area.spread, 4),
      address: `${house} ${street}, ${area.name}, ${name}`,
      exposure: Math.exp(0.2 * bell(draw, index, 5)),
      temperatureOffset: 0.6 * bell(draw, index, 6),
      humidityOffset: 2 * bell(draw, index, 7),
      co2Offset: 15 * Math.abs(bell(draw, index, 8)),
    }
  })
}

export const roundTo = (value: number, decimals: number): number =>
  Math.round(value * 10 ** decimals) / 10 ** decimals
