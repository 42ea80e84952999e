/**
 * Corrected values in an export. The manifest has each model whole, so every value can be computed again
 * from the raw ones, which are proven.
 */
import { corrected } from '../../core/air/correction-model.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { type Correction, readCorrections } from '../../schemas/corrections.ts'
import { type ExportedRow, valuesIn } from './row-line.ts'

export const columnOf = ({ of, name }: Correction): string => `${of}_${name}`

/** One decimal, as in the API. */
function valueBy(model: Correction, reading: LeafFields, kind: string | undefined): number | null {
  const value = corrected(model, valuesIn(reading), kind)
  return value === null ? null : Math.round(value * 10) / 10
}

/** @param kind make and model of the device; undefined: nothing is known, which excludes no model */
export const correctedRow = (
  models: readonly Correction[],
  reading: LeafFields,
  kind: string | undefined,
): Pick<ExportedRow, 'corrected'> =>
  models.length === 0
    ? {}
    : {
        corrected: Object.fromEntries(
          models.map((model) => [columnOf(model), valueBy(model, reading, kind)]),
        ),
      }

/** What is wrong with the models of a manifest, in a sentence; undefined: nothing. */
export function modelsFault(models: readonly Correction[]): string | undefined {
  const read = readCorrections(models.map(({ hash: _hash, ...model }) => model))
  if (typeof read === 'string') return `the corrections of the manifest: ${read}`
  const other = models.find(({ hash }, at) => hash !== read[at]?.hash)
  return other && `the correction ${other.name} of the manifest has another hash than its model`
}

/**
 * That the corrected values of a row follow from its raw ones. A model for some kinds of devices may
 * also give nothing: the row does not say what device it is from.
 */
export function correctedFault(
  models: readonly Correction[],
  { reading, corrected: given }: Pick<ExportedRow, 'reading' | 'corrected'>,
): string | undefined {
  for (const model of models) {
    const [column, value] = [columnOf(model), valueBy(model, reading, undefined)]
    const claimed = given?.[column] ?? null
    if (claimed === value || (claimed === null && model.kinds !== undefined)) continue
    return `has ${claimed ?? 'nothing'} as ${column}, and the model gives ${value ?? 'nothing'}`
  }
  return undefined
}
