import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { secondMs } from '../../core/time.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { jsonType, type Route } from '../http/answer.ts'
import { idCursor, readIdCursor } from '../http/cursor.ts'
import { nextLink } from '../http/next-link.ts'
import { readLimit } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { pageById } from '../live/sensor-pages.ts'
import { readView } from '../live/view.ts'
import { readingTypes, typeOfFormat } from '../readings/reading-formats.ts'
import { latestParams, listLatest, wantsLatest } from './list-latest.ts'
import { readSensorQuery } from './sensor-filter.ts'

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
    const query = readSensorQuery(params, { directory })
    const { shown, total, hasMore } = pageById(board, { query, limit, after })
    const last = shown.at(-1)
    const next = last !== undefined && hasMore ? idCursor(last.entry.id) : null
    let texts = ''
    for (const { entry } of shown) {
      const text = board.textOf(entry, index)
      texts += texts === '' ? text : `,${text}`
    }
    const text = `{"status":"success","count":${shown.length},"total":${total},"next_cursor":${JSON.stringify(next)},"sensors":[${texts}]}`
    return {
      type: jsonType,
      // all of it is ASCII, so one byte per character
      body: Buffer.from(text, 'latin1'),
      headers: nextLink('/v1/sensors', params, next),
    }
  },
})
