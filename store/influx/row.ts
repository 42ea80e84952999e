import { type DeviceSignature, isSignatureAlgorithm } from '../../core/air/device-signature.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { mostValues, trimmed } from '../../core/air/values.ts'
import { isHash } from '../../core/hex.ts'
import { fromOneLine } from './line-protocol.ts'
import type { InfluxCell } from './query.ts'

/** The columns of `readingOf`, in its order; time comes first of itself. */
export const readingFields = [
  'aqi',
  'flags',
  'seq',
  'area',
  'leaf',
  'backfill',
  'device',
  ...quantityNames,
].join(', ')
const valuesAt = 8

/**
 * @param cells time and `readingFields`, then the sensor if it is not given
 * @returns nothing for a row that we did not write: all of ours have what is asked for here
 */
export function readingOf(
  cells: readonly InfluxCell[],
  sensor: string | InfluxCell | undefined = cells[valuesAt + mostValues],
): Reading[] {
  const [timeMs, aqi, flags, seq, area, leaf, backfill, device] = cells
  if (typeof timeMs !== 'number' || typeof flags !== 'number' || typeof seq !== 'number') return []
  if (typeof area !== 'string' || typeof sensor !== 'string') return []
  return [
    {
      // only canonical ids are ever written
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: sensor as SensorId,
      area,
      timeMs,
      values: trimmed(cells.slice(valuesAt, valuesAt + mostValues).map(hundredths)),
      aqi: typeof aqi === 'number' ? aqi : null,
      flags,
      seq,
      ...(leaf === 2 ? { leafVersion: 2 } : {}),
      ...(backfill === 1 ? { isBackfill: true } : {}),
      ...(typeof device === 'string' && isHash(device) ? { device } : {}),
    },
  ]
}

export const signatureFields = 'sig_algorithm, sig_key, sig, sig_text'

/** @param cells time and `signatureFields` */
export function signatureOf(cells: readonly InfluxCell[]): DeviceSignature | undefined {
  const [, algorithm, publicKey, signature, oneLine] = cells
  const text = typeof oneLine === 'string' ? fromOneLine(oneLine) : undefined
  if (!isSignatureAlgorithm(algorithm) || text === undefined) return undefined
  if (typeof publicKey !== 'string' || typeof signature !== 'string') return undefined
  return { algorithm, publicKey, signature, text }
}

/** Exact: a double holds 21 million units to far below a hundredth. */
const hundredths = (value: InfluxCell | undefined): number | null =>
  typeof value === 'number' ? Math.round(value * 100) : null
