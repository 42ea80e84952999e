import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { type Correction, shippedCorrections } from '../../schemas/corrections.ts'
import {} from '../../schemas/devices/registered-sensor.ts'
import type { Order, StoreReads } from '../../store/store.ts'
import type { Route } from '../http/answer.ts'
import { badParameter } from '../http/api-error.ts'
import { readingCursor, readReadingCursor } from '../http/cursor.ts'
import { freshSeconds } from '../http/fresh-seconds.ts'
import { nextLink } from '../http/next-link.ts'
import {
  latestMs,
  type Params,
  readChoice,
  readLimit,
  readPeriod,
  readWord,
} from '../http/params.ts'
import type { QueryStore } from '../http/query-store.ts'
import { findSensorId } from '../live/find-sensor.ts'
import { newestFromStore, oldestFromStore } from '../live/newest-from-store.ts'
import type { NewestReadings, PageQuery } from '../live/newest-readings.ts'
import type { ReadingTexts } from '../live/reading-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { readView, type View } from '../live/view.ts'
import { correctedBy, correctionsJson, readWantedCorrections } from './corrections.ts'
import { filteredPage, readQuality } from './filtered-page.ts'
import { readingTypes, typeOfFormat, writeReadings } from './reading-formats.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly newest: Pick<NewestReadings, 'page' | 'floorMs'>
  readonly queryStore: QueryStore
  readonly texts: ReadingTexts
  readonly indices?: readonly AirIndex[]
  readonly corrections?: readonly Correction[]
  readonly nowMs: () => number
}

const names = [
  'sensor_id',
  'limit',
  'start_time',
  'end_time',
  'cursor',
  'shape',
  'format',
  'index',
  'order',
  'quality',
  'corrections',
] as const

/** GET /v1/readings: newest first unless `order` is given; from memory as far back as it goes, then from the store. */
export const listReadings = (options: Options): Route => ({
  path: '/v1/readings',
  params: names,
  types: Object.values(readingTypes),
  typeOf: typeOfFormat,
  answer: async (request) => {
    const { board, texts } = options
    const { params } = request
    const limit = readLimit(params, 10)
    const wanted = readQuery(params, options)
    const quality = readQuality(params)
    const corrections = readWantedCorrections(params, options.corrections ?? shippedCorrections)
    const registered = (sensor: SensorId) => board.get(sensor)?.sensor
    const view = {
      ...readTypedView(params, request.type, options.indices),
      ...(corrections.length > 0 && { correctedOf: correctedBy(corrections, registered) }),
    }
    const { readings, last, leftOut } = await filteredPage(
      quality,
      limit,
      wanted.after,
      (after, count) => {
        const query = { ...wanted, after, limit: count }
        return (
          options.newest.page(query) ??
          options.queryStore(request.asker, (store, signal) =>
            fromStore(query, store.within(signal), options),
          )
        )
      },
    )
    const nextCursor = last === undefined ? null : readingCursor(last, wanted.order)
    const { type } = request
    const body = writeReadings(
      type,
      {
        readings,
        corrections,
        view,
        fields: {
          ...(wanted.sensor !== undefined && { sensor_id: wanted.sensor }),
          count: readings.length,
          next_cursor: nextCursor,
          ...(quality !== 'all' && { left_out: leftOut }),
          ...(corrections.length > 0 && { corrections: correctionsJson(corrections) }),
        },
      },
      { texts, registered },
    )
    return {
      type,
      body,
      freshSeconds: freshSeconds(
        Math.min(wanted.toMs, wanted.after?.timeMs ?? latestMs),
        options.nowMs(),
      ),
      headers: nextLink('/v1/readings', params, nextCursor),
    }
  },
})

/** @throws ApiError 400 */
export function readTypedView(params: Params, type: string, indices: Options['indices']): View {
  const view = readView(params, indices)
  if (view.shape !== 'full' && type === readingTypes.csv) {
    throw badParameter('shape', view.shape, 'left out with CSV, which has all columns')
  }
  return view
}

type Query = PageQuery & { readonly order: Order }

function readQuery(params: Params, { board, rules }: Options): Omit<Query, 'limit'> {
  const { fromMs = 0, toMs = latestMs } = readPeriod(params)
  const order = readChoice(params, 'order', ['desc', 'asc']) ?? 'desc'
  const after = readReadingCursor(params, rules, order)
  const name = readWord(params, 'sensor_id')
  const sensor = name === undefined ? undefined : findSensorId(board, rules, name)
  return { sensor, fromMs, toMs, after, order }
}

async function fromStore(
  query: Query,
  store: StoreReads,
  { board, newest }: Options,
): Promise<readonly Reading[]> {
  if (query.order === 'asc') return oldest(query, store, { board, newest })
  const { sensor, fromMs, toMs, limit, after } = query
  if (sensor === undefined) return newestFromStore(store, { fromMs, toMs, limit, after })
  // a sensor has one reading per time, so a page starts before the time of the last one
  const beforeMs = after === undefined ? toMs : Math.min(toMs, after.timeMs)
  if (fromMs >= beforeMs) return []
  return fromMs === 0 && beforeMs === latestMs
    ? store.latest(sensor, limit)
    : store.range(sensor, fromMs, beforeMs, limit)
}

/**
 * From the store up to where memory is complete, the rest from memory: the store may not have the
 * newest ones yet, and a client that goes upwards would never come back for them.
 */
async function oldest(
  query: Query,
  store: StoreReads,
  { board, newest }: Pick<Options, 'board' | 'newest'>,
): Promise<readonly Reading[]> {
  const { sensor, fromMs, limit, after, order } = query
  const memoryMs = (newest.floorMs() ?? latestMs) + 1
  // before anything is awaited: the floor rises
  const rest = newest.page({ ...query, fromMs: Math.max(fromMs, memoryMs) }) ?? []
  const toMs = Math.min(query.toMs, memoryMs)
  const startMs = after === undefined ? fromMs : Math.max(fromMs, after.timeMs + 1)
  const rows =
    sensor === undefined
      ? await oldestFromStore(store, { ...query, toMs }, beginOf(board))
      : startMs < toMs
        ? await store.range(sensor, startMs, toMs, limit, order)
        : []
  return [...rows, ...rest].slice(0, limit)
}

/** Only what an operator replays is from before its sensor was in the network. */
const beginOf = (board: SensorBoard): number => Math.min(board.earliestMs(), latestMs)
