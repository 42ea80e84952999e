import { type ByQuantity, basicNames, mapQuantities } from '../core/air/quantities.ts'

/** A JSON Schema's `properties`: one a quantity, in the table's order, described by its unit. */
export const measured = <const Schema extends object>(
  schema: Schema,
): ByQuantity<Schema & { readonly description: string }> =>
  mapQuantities(({ unit }) => ({ ...schema, description: unit }))

const valueOrNull = { type: ['number', 'null'] } as const

/** `measurements` as every answer, event and webhook has it. */
export const measurements = {
  type: 'object',
  additionalProperties: false,
  required: basicNames,
  properties: mapQuantities(() => valueOrNull),
} as const
