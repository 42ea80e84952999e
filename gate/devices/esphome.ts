/**
 * ESPHome over MQTT: one topic a quantity, `esphome/<name>/sensor/<object id>/state`, its payload a
 * bare decimal text. The object id is made of the name that the owner chose, so the entry of the
 * sensor may say which is which; the usual names are known.
 */
import { type QuantityName, quantities, quantityNames } from '../../core/air/quantities.ts'
import { numberOf } from './mapped.ts'

/** As ESPHome's own examples and its Home Assistant names spell them. */
const byUsualName: ReadonlyMap<string, QuantityName> = new Map(
  quantities.flatMap(({ name: quantity, esphome }) =>
    esphome.map((name) => [name, quantity] as const),
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

/** @returns undefined for `nan`, `None`, and whatever else is no plain decimal */
export const esphomeValue = (payload: string): number | undefined => numberOf(payload)
