/** The one place in the tests that writes a whole reading. */
import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { type NamedValues, type Values, valuesOf } from '../../core/air/values.ts'

/** Some of `T`, with values by name: those that are missing are as in `values`. */
export type Over<T = Reading> = Partial<T> & NamedValues

type Valued<Flat> = Omit<Flat, QuantityName | 'values'> & { readonly values: Values }

/** The same with its values as a list. */
export function valued<Flat extends NamedValues & { readonly values?: Values }>(
  flat: Flat,
): Valued<Flat> {
  const rest: Record<string, unknown> = {}
  const byName: { [Name in QuantityName]?: number | null } = {}
  for (const [id, name] of quantityNames.entries()) {
    const value = flat[name]
    byName[name] = value === undefined ? (flat.values?.[id] ?? null) : value
  }
  for (const [key, value] of Object.entries(flat)) if (!(key in byName)) rest[key] = value
  return { ...rest, values: valuesOf(byName) } as unknown as Valued<Flat>
}

/** A reading that measured only what overrides it. */
export const readingOf = (over: Over): Reading => ({
  sensor: 'NGR-LOS-IKJ-001' as SensorId,
  area: 'Ikeja',
  timeMs: Date.UTC(2026, 0, 15),
  aqi: null,
  flags: 0,
  seq: 1,
  ...valued(over),
})
