import { basicNames, mapQuantities } from '../core/air/quantities.ts'

const valueOrNull = { type: ['number', 'null'] } as const

/** `measurements` as in every response, event and webhook. */
export const measurements = {
  type: 'object',
  additionalProperties: false,
  required: basicNames,
  properties: mapQuantities(() => valueOrNull),
} as const
