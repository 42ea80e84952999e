import fc from 'fast-check'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { mostValues } from '../../core/air/values.ts'
import { toHex } from '../../core/hex.ts'
import type { LeafFields2 } from '../../core/proof/leaf.ts'

/** Any reading that a leaf of version 2 can be made of. */
export const leafFields2: fc.Arbitrary<LeafFields2> = fc.record(
  {
    sensor: fc.string({ unit: 'grapheme' }).map((text) => text as SensorId),
    timeMs: fc.maxSafeNat(),
    seq: fc.maxSafeNat(),
    area: fc.string({ unit: 'grapheme' }),
    flags: fc.nat(2 ** 32 - 1),
    values: fc.array(fc.option(fc.maxSafeInteger()), { maxLength: mostValues }),
    aqi: fc.option(fc.nat(65_534)),
    device: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex),
    leafVersion: fc.constant(2 as const),
  },
  { requiredKeys: ['sensor', 'timeMs', 'seq', 'area', 'flags', 'values', 'aqi', 'leafVersion'] },
)
