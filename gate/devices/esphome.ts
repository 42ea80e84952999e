/**
 * ESPHome over MQTT: one topic per quantity, `esphome/<name>/sensor/<object id>/state`, its payload
 * a bare decimal text. The object id is made of the name that the owner chose, so the entry of the
 * sensor may say which is which; the usual names are known.
 */
import { type ByQuantity, type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import { numberOf } from './mapped.ts'

/**
 * The object ids that ESPHome makes of the names its owners give: its own examples' and its Home
 * Assistant names. None for a gas, since the topic does not say whether it is in µg/m³, ppb or ppm:
 * the sensor's entry does.
 */
export const usualNames: Partial<ByQuantity<readonly string[]>> = {
  pm25: [
    'pm25',
    'pm2_5',
    'pm_2_5',
    'pm2_5_concentration',
    'pm_2_5_concentration',
    'pm_2_5um_concentration',
    'particulate_matter_2_5um_concentration',
    'particulate_matter__2_5_m_concentration',
  ],
  pm10: [
    'pm10',
    'pm_10',
    'pm_10_0',
    'pm10_concentration',
    'pm_10_0_concentration',
    'pm_10um_concentration',
    'particulate_matter_10_0um_concentration',
    'particulate_matter__10_0_m_concentration',
  ],
  co2: ['co2', 'co2_value', 'co2_concentration', 'carbon_dioxide'],
  temperature: ['temperature', 'outside_temperature', 'outdoor_temperature'],
  humidity: ['humidity', 'relative_humidity', 'outside_humidity', 'outdoor_humidity'],
  pm1: [
    'pm1',
    'pm_1',
    'pm_1_0',
    'pm1_concentration',
    'pm_1_0_concentration',
    'pm_1_0um_concentration',
    'particulate_matter_1_0um_concentration',
    'particulate_matter__1_0_m_concentration',
  ],
  pm4: [
    'pm4',
    'pm_4',
    'pm_4_0',
    'pm4_concentration',
    'pm_4_0_concentration',
    'pm_4_0um_concentration',
  ],
  pressure: [
    'pressure',
    'air_pressure',
    'atmospheric_pressure',
    'outside_pressure',
    'outdoor_pressure',
    'bme280_pressure',
    'bmp280_pressure',
  ],
  voc_index: ['voc_index', 'sgp40_voc_index', 'sgp41_voc_index'],
  nox_index: ['nox_index', 'sgp41_nox_index'],
  tvoc: ['tvoc', 'total_volatile_organic_compound'],
  noise: ['laeq', 'noise_laeq'],
}

const byUsualName: ReadonlyMap<string, QuantityName> = new Map(
  quantityNames.flatMap((quantity) =>
    (usualNames[quantity] ?? []).map((name) => [name, quantity] as const),
  ),
)

/**
 * What the topic of an object id carries.
 * @param options of the sensor's entry: `pm25: "<object id>"` and so on, which win
 * @returns undefined for whatever else the device measures
 */
export function esphomeQuantity(
  objectId: string,
  options: Readonly<Record<string, unknown>> = {},
): QuantityName | undefined {
  const named = quantityNames.find((quantity) => options[quantity] === objectId)
  if (named !== undefined) return named
  const usual = byUsualName.get(objectId)
  // the entry named another object id for it: this one is a second sensor's
  return usual !== undefined && options[usual] !== undefined ? undefined : usual
}

/** @returns undefined for `nan`, `None`, and whatever else is not a plain decimal */
export const esphomeValue = (payload: string): number | undefined => numberOf(payload)
