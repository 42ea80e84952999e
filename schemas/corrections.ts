/** The data file of corrections: those of airproof, and an operator's own. */
import { createHash } from 'node:crypto'
import type { CorrectionModel } from '../core/air/correction-model.ts'
import shipped from '../core/air/correction-models.json' with { type: 'json' }
import { quantityNames } from '../core/air/quantities.ts'
import { checkOf } from './check.ts'

const number = { type: 'number' } as const
const byQuantity = (schema: object) =>
  Object.fromEntries(quantityNames.map((name) => [name, schema] as const))
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength }) as const
const mostModels = 50

export const correctionsSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/corrections',
  title: 'Corrections of what sensors measure',
  type: 'array',
  maxItems: mostModels,
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'version', 'title', 'citation', 'of', 'range', 'pieces'],
    properties: {
      name: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,39}$' },
      version: { type: 'integer', minimum: 1 },
      title: text(200),
      citation: text(500),
      of: { enum: quantityNames },
      kinds: { type: 'array', minItems: 1, maxItems: 50, items: text(100) },
      range: {
        type: 'object',
        additionalProperties: false,
        properties: byQuantity({ type: 'array', minItems: 2, maxItems: 2, items: number }),
      },
      pieces: {
        type: 'array',
        minItems: 1,
        maxItems: 20,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['terms'],
          properties: {
            below: number,
            terms: {
              type: 'array',
              minItems: 1,
              maxItems: 20,
              items: {
                type: 'object',
                additionalProperties: false,
                required: ['times'],
                properties: {
                  times: number,
                  ...byQuantity({ type: 'integer', minimum: 1, maximum: 4 }),
                },
              },
            },
          },
        },
      },
    },
  },
} as const

/** A model and the SHA-256 of its JSON, keys sorted, which is published with what it gives. */
export type Correction = CorrectionModel & { readonly hash: string }

const isModels = checkOf<readonly CorrectionModel[]>(correctionsSchema)

/** @returns the models, or in words what is wrong */
export function readCorrections(value: unknown): readonly Correction[] | string {
  if (!isModels(value)) {
    const [first] = isModels.errors ?? []
    return `${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim()
  }
  const names = value.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return `${twice} is in it more than once`
  for (const { name, pieces } of value) {
    const ends = pieces.map(({ below }) => below ?? Infinity)
    if (ends.some((end, i) => i > 0 && end <= (ends[i - 1] ?? end)))
      return `the pieces of ${name} do not ascend: only the last may be without below`
  }
  return value.map(withHash)
}

const hashOf = (model: CorrectionModel): string =>
  `0x${createHash('sha256').update(canonical(model)).digest('hex')}`

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`
}

const withHash = (model: CorrectionModel): Correction => ({ ...model, hash: hashOf(model) })

/** Those that every airproof has. They are not read as others are: a unit test does, not every start. */
export const shippedCorrections: readonly Correction[] =
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as that test says
  (shipped as unknown as readonly CorrectionModel[]).map(withHash)

/** What the status of a sensor has always had as `pm25_corrected`. */
export const epa2021 = shippedNamed('epa_2021_ext')

function shippedNamed(name: string): Correction {
  const model = shippedCorrections.find((one) => one.name === name)
  if (model === undefined) throw new Error(`the correction ${name} is missing`)
  return model
}
