import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { type Answer, jsonType, type Route } from '../http/answer.ts'
import { idCursor, readIdCursor } from '../http/cursor.ts'
import { nextLink } from '../http/next-link.ts'
import { type Params, readLimit } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { readSensorFilter } from './sensor-filter.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
}

/** GET /v1/sensors: by id, from memory, each sensor's JSON joined as it lies ready. */
export const listSensors = ({ board, rules, directory }: Options): Route => ({
  path: '/v1/sensors',
  params: ['status', 'area', 'bbox', 'near', 'radius', 'limit', 'cursor'],
  types: [jsonType],
  version: board.version,
  answer: ({ params }) => {
    const limit = readLimit(params, 100)
    const after = readIdCursor(params, rules)
    const filter = readSensorFilter(params, { directory })
    const entries = board.all()
    return page(filter ? entries.filter(filter) : entries, { limit, after, board, params })
  },
})

function page(
  entries: readonly Entry[],
  {
    limit,
    after,
    board,
    params,
  }: {
    readonly limit: number
    readonly after: string | undefined
    readonly board: SensorBoard
    readonly params: Params
  },
): Answer {
  const start = after === undefined ? 0 : firstBehind(entries, after)
  const shown = entries.slice(start, start + limit)
  const last = shown.at(-1)
  const next =
    last !== undefined && start + limit < entries.length ? idCursor(last.sensor.id) : null
  let texts = ''
  for (const entry of shown) texts += texts === '' ? board.textOf(entry) : `,${board.textOf(entry)}`
  const text = `{"status":"success","count":${shown.length},"total":${entries.length},"next_cursor":${JSON.stringify(next)},"sensors":[${texts}]}`
  // all of it is ASCII, so a byte a character
  return {
    type: jsonType,
    body: Buffer.from(text, 'latin1'),
    headers: nextLink('/v1/sensors', params, next),
  }
}

/** The first place whose id comes after `id`. */
function firstBehind(entries: readonly Entry[], id: string): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.sensor.id ?? '') > id) high = middle
    else low = middle + 1
  }
  return low
}
