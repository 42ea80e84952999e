import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { secondMs } from '../../core/time.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { type Answer, jsonType, type Route } from '../http/answer.ts'
import { idCursor, readIdCursor } from '../http/cursor.ts'
import { nextLink } from '../http/next-link.ts'
import { type Params, readLimit } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { readView } from '../live/view.ts'
import { readingTypes, typeOfFormat } from '../readings/reading-formats.ts'
import { latestParams, listLatest, wantsLatest } from './list-latest.ts'
import { readSensorFilter } from './sensor-filter.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly nowMs: () => number
  readonly indices?: readonly AirIndex[]
  readonly corrections?: readonly Correction[]
}

/** GET /v1/sensors: by id, from memory, joined from the ready-made JSON of each sensor. */
export const listSensors = (options: Options): Route => ({
  path: '/v1/sensors',
  params: [
    'status',
    'area',
    'bbox',
    'near',
    'radius',
    'limit',
    'cursor',
    'index',
    'include',
    ...latestParams,
  ],
  types: Object.values(readingTypes),
  typeOf: typeOfFormat,
  typesOf: (params) => (wantsLatest(params) ? Object.values(readingTypes) : [jsonType]),
  // both only rise; the seconds are those of the silences
  version: () => options.board.version() + Math.floor(options.nowMs() / secondMs),
  answer: ({ params, type }) => {
    const { board, rules, directory, indices } = options
    const limit = readLimit(params, 100)
    if (wantsLatest(params)) {
      const { index } = readView(params, indices)
      return listLatest({ params, type, limit, index }, options)
    }
    const after = readIdCursor(params, rules)
    const { index } = readView(params, indices)
    const filter = readSensorFilter(params, { directory })
    const entries = board.all()
    const textOf = (entry: Entry): string => board.textOf(entry, index)
    return page(filter ? entries.filter(filter) : entries, { limit, after, textOf, params })
  },
})

function page(
  entries: readonly Entry[],
  {
    limit,
    after,
    textOf,
    params,
  }: {
    readonly limit: number
    readonly after: string | undefined
    readonly textOf: (entry: Entry) => string
    readonly params: Params
  },
): Answer {
  const start = after === undefined ? 0 : firstAfter(entries, after)
  const shown = entries.slice(start, start + limit)
  const last = shown.at(-1)
  const next =
    last !== undefined && start + limit < entries.length ? idCursor(last.sensor.id) : null
  let texts = ''
  for (const entry of shown) texts += texts === '' ? textOf(entry) : `,${textOf(entry)}`
  const text = `{"status":"success","count":${shown.length},"total":${entries.length},"next_cursor":${JSON.stringify(next)},"sensors":[${texts}]}`
  // all of it is ASCII, so one byte per character
  return {
    type: jsonType,
    body: Buffer.from(text, 'latin1'),
    headers: nextLink('/v1/sensors', params, next),
  }
}

/** The index of the first entry whose id comes after `id`. */
function firstAfter(entries: readonly Entry[], id: string): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.sensor.id ?? '') > id) high = middle
    else low = middle + 1
  }
  return low
}
