import type { AirIndex } from '../../core/air/index/air-index.ts'
import { airIndices, storedIndex } from '../../core/air/index/indices.ts'
import type { Reading } from '../../core/air/reading.ts'
import { badParameter } from '../http/api-error.ts'
import { type Params, readChoice } from '../http/params.ts'

export const shapes = ['flat', 'nested'] as const
/** `full` has all fields of the other two. */
export type Shape = (typeof shapes)[number] | 'full'

/** How a caller wants to see what was measured. */
export type View = {
  readonly index: AirIndex
  readonly shape: Shape
  /** Corrected values of the reading, beside the raw ones; absent: none. */
  readonly correctedOf?: CorrectedOf
}

/** By model and quantity: `{"epa_2021_ext": {"pm25": 27.3}}`. */
export type CorrectedOf = (
  reading: Pick<Reading, 'sensor' | 'values'>,
) => Readonly<Record<string, Readonly<Record<string, number | null>>>>

/** The view without parameters, and where none can be given: in streams. */
export const usualView: View = { index: storedIndex, shape: 'full' }

/** `index`, and `shape` if the route accepts it. @throws ApiError 400 */
export function readView(params: Params, indices: readonly AirIndex[] = airIndices): View {
  const name = params.get('index')
  const index = name === undefined ? usualView.index : indices.find((index) => index.name === name)
  if (index === undefined)
    throw badParameter('index', name, `one of ${indices.map(({ name }) => name).join(', ')}`)
  return { index, shape: readChoice(params, 'shape', shapes) ?? usualView.shape }
}
