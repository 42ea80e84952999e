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
  return isOfKind(model, kind) ? correctionOf(model)(values) : null
}

type Correct = (values: Values) => number | null

const made = new WeakMap<CorrectionModel, Correct>()

/**
 * What the model gives of values, whatever device they are of. Made once: to find its names costs more
 * than its sums.
 */
export function correctionOf(model: CorrectionModel): Correct {
  const known = made.get(model)
  if (known !== undefined) return known
  const correct = compiled(model)
  made.set(model, correct)
  return correct
}

function compiled(model: CorrectionModel): Correct {
  const of = quantityIds[model.of]
  const ranges = rangesOf(model).map(([name, [low, high]]) => ({
    id: quantityIds[name],
    low,
    high,
  }))
  const pieces = model.pieces.map(({ below = Number.POSITIVE_INFINITY, terms }) => ({
    below,
    terms: terms.map((term) => ({
      times: term.times,
      powers: namesOf(term).map((name) => ({ id: quantityIds[name], power: term[name] ?? 0 })),
    })),
  }))
  return (values) => {
    for (const { id, low, high } of ranges) {
      const value = inUnit(values[id] ?? null)
      if (value === null || value < low || value > high) return null
    }
    const raw = inUnit(values[of] ?? null)
    if (raw === null) return null
    const piece = pieces.find(({ below }) => raw < below)
    if (piece === undefined) return null
    let sum = 0
    for (const { times, powers } of piece.terms) {
      let product = times
      for (const { id, power } of powers) {
        const value = inUnit(values[id] ?? null)
        if (value === null) return null
        product *= value ** power
      }
      sum += product
    }
    return Math.max(0, sum)
  }
}

/** The quantities that the model reads. */
export const inputsOf = (model: CorrectionModel): readonly QuantityName[] => [
  ...new Set([
    model.of,
    ...namesOf(model.range),
    ...model.pieces.flatMap(({ terms }) => terms.flatMap(namesOf)),
  ]),
]

export const isOfKind = ({ kinds }: CorrectionModel, kind: string | undefined): boolean => {
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
