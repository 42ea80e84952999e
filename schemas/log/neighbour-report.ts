/**
 * What the pipeline's task of neighbours reports to the worker of a partition: all of its sensors that are
 * unlike their neighbours. A plain message: the worker commits what differs from the log, and what is lost
 * is in the next one, ten minutes later.
 */
import type { FromSchema } from 'json-schema-to-ts'
import { rulesNow } from '../../core/state/quality-rules.ts'
import type { Unlike } from '../../core/state/unlike-neighbours.ts'
import { checkOf } from '../check.ts'

const sensors = { type: 'array', items: { type: 'string' }, minItems: 1 } as const

const reportSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/neighbour-report',
  title: 'The sensors of a partition that are unlike their neighbours',
  type: 'object',
  additionalProperties: false,
  required: ['rules', 'endMs', 'readingsTo', 'unlike'],
  properties: {
    rules: { const: rulesNow, description: 'a worker with other rules ignores it' },
    endMs: { type: 'integer', description: 'of the two hours' },
    readingsTo: { type: 'integer', description: 'decided from READINGS up to this sequence' },
    unlike: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['sensor', 'among'],
        properties: { sensor: { type: 'string' }, among: sensors },
      },
    },
  },
} as const

export type NeighbourReport = Pick<
  FromSchema<typeof reportSchema>,
  'rules' | 'endMs' | 'readingsTo'
> & { readonly unlike: readonly Unlike[] }

const isReport = checkOf<NeighbourReport>(reportSchema)

/** @returns undefined: it is not such a message, or one of other rules */
export function parseNeighbourReport(text: string): NeighbourReport | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isReport(value) ? value : undefined
  } catch {
    return undefined
  }
}
