import type { QuantityName } from '../../core/air/quantities.ts'

type ArchiveQuantity = {
  readonly quantity: QuantityName
  /** How many of their unit make one of ours. */
  readonly perUnit?: number
}

/** What Luftdaten-type archives call our quantities. */
const archiveQuantities: ReadonlyMap<string, ArchiveQuantity> = new Map([
  ['P0', { quantity: 'pm1' }],
  ['P1', { quantity: 'pm10' }],
  ['P2', { quantity: 'pm25' }],
  ['P4', { quantity: 'pm4' }],
  ['temperature', { quantity: 'temperature' }],
  ['humidity', { quantity: 'humidity' }],
  ['pressure', { quantity: 'pressure', perUnit: 100 }],
  ['noise_LAeq', { quantity: 'noise' }],
])

/** Reads the values of one column; undefined: it is not a quantity that we have. */
export function archiveQuantity(
  name: string,
): { readonly quantity: QuantityName; readonly inUnit: (value: number) => number } | undefined {
  const known = archiveQuantities.get(name)
  if (known === undefined) return undefined
  const { quantity, perUnit = 1 } = known
  return { quantity, inUnit: (value) => value / perUnit }
}
