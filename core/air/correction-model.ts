/**
 * Corrections of what low-cost sensors measure, as data: a model is pieces of a polynomial in values of
 * the same reading. A corrected value is offered beside the raw one under the model's name, never in
 * its place: only the raw value is stored, indexed and hashed.
 */
import { type QuantityName, quantityIds } from './quantities.ts'
import { inUnit, type Values } from './values.ts'

/** `times` × the product of the values to the powers named; without any it is a constant. */
export type Term = { readonly times: number } & { readonly [Name in QuantityName]?: number }

export type Piece = {
  /** Applies where the value is below; absent: to all that is left, in the last piece. */
  readonly below?: number
  readonly terms: readonly Term[]
}

export type CorrectionModel = {
  /** Its name in requests and answers. A model never changes: other coefficients are another version. */
  readonly name: string
  readonly version: number
  readonly title: string
  readonly citation: string
  /** What it corrects. */
  readonly of: QuantityName
  /** The models of devices, or of their sensors, that it was fitted to; absent: any. */
  readonly kinds?: readonly string[]
  /** Both ends belong to it, in the units of the values. Outside there is no corrected value. */
  readonly range: { readonly [Name in QuantityName]?: readonly [low: number, high: number] }
  /** By `below`, ascending. */
  readonly pieces: readonly Piece[]
}

/**
 * @param kind what is known of the device; undefined: nothing, which excludes no model
 * @returns in the unit of the value, 0 or more; null where an input is missing or out of range, or the
 * model was fitted to another kind of device
 */
export function corrected(
  model: CorrectionModel,
  values: Values,
  kind: string | undefined,
): number | null {
  if (!isOfKind(model, kind)) return null
  const valueOf = (name: QuantityName): number | null => inUnit(values[quantityIds[name]] ?? null)
  for (const [name, [low, high]] of rangesOf(model)) {
    const value = valueOf(name)
    if (value === null || value < low || value > high) return null
  }
  const raw = valueOf(model.of)
  if (raw === null) return null
  const piece = model.pieces.find(({ below }) => below === undefined || raw < below)
  if (piece === undefined) return null
  let sum = 0
  for (const term of piece.terms) {
    const product = productOf(term, valueOf)
    if (product === null) return null
    sum += product
  }
  return Math.max(0, sum)
}

const isOfKind = ({ kinds }: CorrectionModel, kind: string | undefined): boolean => {
  if (kinds === undefined || kind === undefined) return true
  const text = kind.toLowerCase()
  return kinds.some((one) => text.includes(one.toLowerCase()))
}

const namesOf = (record: object): readonly QuantityName[] =>
  Object.keys(record).filter((name): name is QuantityName => name in quantityIds)

const rangesOf = ({ range }: CorrectionModel) =>
  namesOf(range).flatMap((name) => {
    const ends = range[name]
    return ends === undefined ? [] : [[name, ends] as const]
  })

function productOf(term: Term, valueOf: (name: QuantityName) => number | null): number | null {
  let product = term.times
  for (const name of namesOf(term)) {
    const value = valueOf(name)
    if (value === null) return null
    product *= value ** (term[name] ?? 0)
  }
  return product
}
