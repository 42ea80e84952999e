/** GET /v1/changes: what was accepted since a cursor, late readings included, from the log. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { secondMs } from '../../core/time.ts'
import { decodeLogCursor, encodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import { findArea } from '../areas/find-area.ts'
import type { Asker, Route } from '../http/answer.ts'
import { ApiError, unavailable } from '../http/api-error.ts'
import { fairLine } from '../http/fair-line.ts'
import { nextLink } from '../http/next-link.ts'
import { type Params, readWhole, readWord } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import { findSensorId } from '../live/find-sensor.ts'
import type { LogAfter } from '../live/log-after.ts'
import type { Gap, GapOf } from '../live/log-gap.ts'
import type { LogTail } from '../live/log-tail.ts'
import type { ReadingTexts } from '../live/reading-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { readTypedView } from '../readings/list-readings.ts'
import { readingTypes, typeOfFormat, writeInTurns } from '../readings/reading-formats.ts'
import { type ChangesPage, changesPage, type Wanted } from './changes-page.ts'

type Options = {
  readonly log: LogAfter
  readonly tail: LogTail
  readonly gapOf: GapOf
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly texts: ReadingTexts
  readonly indices?: readonly AirIndex[]
}

const path = '/v1/changes'
const inTime = { waitMs: 10 * secondMs, workMs: 15 * secondMs }
/** Pages in work at once, from memory or from the log: each may be megabytes. */
const bounds = {
  accounts: { running: 8, runningEach: 2, waiting: 256, waitingEach: 32, ...inTime },
  visitors: { running: 4, runningEach: 2, waiting: 64, waitingEach: 16, ...inTime },
}

/** An empty page leaves the cursor as it is until this much was looked at, so that it is 304 next time. */
const fewLooked = { messages: 1_000, readings: 5_000 }

export function listChanges(options: Options): Route {
  const { tail, texts, board, gapOf } = options
  const lines = { accounts: fairLine(bounds.accounts), visitors: fairLine(bounds.visitors) }
  const inTurn = <T>(
    { isVisitor, share, gone }: Asker,
    work: (signal: AbortSignal) => Promise<T>,
  ) => lines[isVisitor ? 'visitors' : 'accounts']({ share: share(), gone: gone() }, work)

  return {
    path,
    params: ['after', 'limit', 'sensor_id', 'area', 'shape', 'format', 'index'],
    types: Object.values(readingTypes),
    typeOf: typeOfFormat,
    answer: async ({ params, type, asker }) => {
      const after = params.get('after')
      const given = readCursor(after)
      const wanted = readWanted(params, options)
      const view = readTypedView(params, type, options.indices)
      const end = tail.end()
      if (end === undefined) throw unavailable('log_unavailable', 'the log is still being read')
      return await inTurn(asker, async (signal) => {
        const page = await pageFrom(given ?? end, wanted, signal, options)
        const isSame = page.missing === undefined && isFewEmpty(page) && typeof given === 'object'
        const next = isSame ? (after ?? '') : encodeLogCursor(page.next)
        const gap = page.missing === undefined ? null : gapOf(page.missing)
        const { readings, isMore } = page
        const fields = { count: readings.length, next_cursor: next, more: isMore, gap }
        const body = await writeInTurns(
          type,
          { readings, view, fields },
          {
            texts: page.isPassing ? texts.passing : texts,
            registered: (sensor) => board.get(sensor)?.sensor,
          },
        )
        const headers = { ...nextLink(path, params, next, 'after'), ...pageHeaders(isMore, gap) }
        return { type, body, headers }
      })
    },
  }
}

/** For formats that have no field for them. */
const pageHeaders = (isMore: boolean, gap: Gap | null): Readonly<Record<string, string>> => ({
  'airproof-more': String(isMore),
  ...(gap !== null && { 'airproof-gap': `${gap.from ?? '..'}/${gap.to ?? '..'}` }),
})

const isFewEmpty = ({ readings, looked }: ChangesPage): boolean =>
  readings.length === 0 &&
  looked.messages < fewLooked.messages &&
  looked.readings < fewLooked.readings

/** @throws ApiError 400, 503 */
async function pageFrom(
  given: LogCursor | 'start',
  wanted: Wanted,
  signal: AbortSignal,
  { log, tail }: Options,
): Promise<ChangesPage> {
  const read = async (): Promise<ChangesPage> => {
    if (given === 'start') {
      const cursor = await log.placeAt((await log.ends()).first - 1)
      return await changesPage({ log, tail }, { cursor }, wanted, signal)
    }
    const from = await log.continueFrom(given)
    if ('refused' in from) throw badCursor(from.refused)
    return await changesPage({ log, tail }, from, wanted, signal)
  }
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error
    throw unavailable('log_unavailable', 'the log cannot be read right now', error)
  }
}

/** @returns undefined: from now on @throws ApiError 400 */
function readCursor(text: string | undefined): LogCursor | 'start' | undefined {
  if (text === undefined || text === 'start') return text
  const cursor = decodeLogCursor(text)
  if (cursor === undefined) throw badCursor('malformed')
  return cursor
}

const cursorFaults = {
  malformed: 'after must be the next_cursor of an earlier answer, the id of an event, or start',
  other_network: 'the cursor is of another network: begin again, with after=start or without after',
  future:
    'the cursor is ahead of the log, which was put back to an older state: begin again, with after=start or without after',
}

const badCursor = (reason: keyof typeof cursorFaults): ApiError =>
  new ApiError(400, 'bad_cursor', cursorFaults[reason], { details: { parameter: 'after', reason } })

/** @throws ApiError 400, 404 */
function readWanted(params: Params, { board, rules, directory }: Options): Wanted {
  const limit = readWhole(params, 'limit', { min: 1, max: 5_000, otherwise: 1_000 })
  const name = readWord(params, 'sensor_id')
  const sensor = name === undefined ? undefined : findSensorId(board, rules, name)
  const place = readWord(params, 'area')
  const named = place === undefined ? undefined : findArea(directory(), place)
  const area = named?.isNetwork === true ? undefined : named
  if (sensor === undefined && area === undefined) return { limit, wants: undefined }
  return {
    limit,
    wants: (reading) =>
      (sensor === undefined || reading.sensor === sensor) &&
      (area === undefined || reading.area === area.storedAs),
  }
}
