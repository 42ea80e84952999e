/** GET /v1/stream: what happens, as it happens, as server-sent events. */
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import type { Logger } from '../../runtime/log.ts'
import type { LogCursor } from '../../schemas/log/log-cursor.ts'
import type { Asker, Request, Route } from '../http/answer.ts'
import { badParameter, unavailable } from '../http/api-error.ts'
import { fairLine } from '../http/fair-line.ts'
import { type Params, readWord } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import { findSensor } from '../live/find-sensor.ts'
import type { LogAfter } from '../live/log-after.ts'
import type { GapOf } from '../live/log-gap.ts'
import type { ReadingTexts } from '../live/reading-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { isWanted } from '../live/sensor-query.ts'
import { usualView } from '../live/view.ts'
import { readSensorQuery } from '../sensors/sensor-filter.ts'
import { type EventId, parseEventId } from './event-ids.ts'
import { idLine, type Listener, type StreamHub } from './hub.ts'
import { createReplay } from './replay.ts'
import { type StreamBounds, streamPlaces } from './stream-places.ts'

type Options = {
  readonly log: LogAfter
  readonly gapOf: GapOf
  readonly hub: StreamHub
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly texts: Pick<ReadingTexts, 'textOf'>
  readonly logger: Logger
  readonly bounds?: StreamBounds
}

const retryMs = 2_000

/** Replays of the log at once. A stream waits for its turn as long as it is open. */
const replayBounds = {
  accounts: { running: 8, runningEach: 2, waiting: 1_000, waitingEach: 10 },
  visitors: { running: 4, runningEach: 2, waiting: 1_000, waitingEach: 250 },
}

export function streamEvents(options: Options): Route {
  const { log, gapOf, hub, board, texts, logger } = options
  const places = streamPlaces(options.bounds)
  const inTurn = {
    accounts: fairLine(replayBounds.accounts),
    visitors: fairLine(replayBounds.visitors),
  }
  const replay = createReplay({
    log,
    gapOf,
    textOf: (reading) => texts.textOf(reading, usualView),
    place: hub.place,
  })

  const resume = async (
    listener: Listener,
    { isVisitor, share, gone }: Asker,
    { id, given }: Given,
  ): Promise<void> => {
    const { out, form, wants: wantsEntry } = listener
    const wants = wantsEntry && ((sensor: SensorId) => wantsEntry(sensor, board.get(sensor)))
    const turn = { share: share(), gone: gone() }
    try {
      const onCaughtUp = (place: LogCursor): void => hub.join(listener, place)
      await inTurn[isVisitor ? 'visitors' : 'accounts'](turn, () =>
        replay({ id, given, out, wants, form, gone: turn.gone, onCaughtUp }),
      )
    } catch (error) {
      if (turn.gone.aborted) return
      logger.warn({ err: error }, 'could not replay the log to a stream')
      out.destroy()
    }
  }

  return {
    path: '/v1/stream',
    params: ['sensor_id', 'area', 'bbox', 'last_event_id', 'token'],
    types: ['text/event-stream'],
    takesToken: true,
    answer: ({ params, header, caller, asker }) => {
      if (caller === undefined) throw new Error('the stream always needs a key')
      if (params.has('token') && header('authorization') !== undefined)
        throw badParameter('token', '(not shown)', 'left out with the header Authorization')
      const wanted = readWanted(params, options)
      const given = readEventId(params, header)
      const now = hub.place()
      if (!hub.isLive() || now === undefined)
        throw unavailable('stream_unavailable', 'the stream cannot be joined yet')
      const take = places(asker, caller.isInternal)
      return {
        type: 'text/event-stream',
        headers: { 'x-accel-buffering': 'no' },
        body: Buffer.alloc(0),
        follow: (out) => {
          out.once('close', take())
          // the dashboard passes it to its pages as it is
          const form = caller.isInternal ? 'lean' : 'whole'
          const listener: Listener = { out, ...wanted, form, checkAgain: caller.checkAgain }
          hub.keep(listener)
          out.write(`retry: ${retryMs}\n\n`)
          if (given !== undefined) {
            void resume(listener, asker, given)
            return
          }
          out.write(`${idLine(now)}\n`)
          hub.join(listener, now)
        },
      }
    },
  }
}

/** @throws ApiError 400, 404 */
function readWanted(
  params: Params,
  { board, rules, directory }: Options,
): Pick<Listener, 'wants' | 'area'> {
  const name = readWord(params, 'sensor_id')
  const only = name === undefined ? undefined : needInUse(findSensor(board, rules, name), name)
  const query = readSensorQuery(params, { directory })
  if (Object.keys(query).length === 0) return { wants: only && ((sensor) => sensor === only) }
  return {
    area: query.area,
    wants: (sensor, entry) =>
      (only === undefined || sensor === only) && entry !== undefined && isWanted(query, entry),
  }
}

/** A stream that can never send anything is a mistake. @throws ApiError 400 */
function needInUse({ sensor }: Entry, given: string): SensorId {
  if (sensor.retiredMs === undefined) return sensor.id
  const expected = 'a sensor that is in use: this one was retired and sends nothing'
  throw badParameter('sensor_id', given, expected)
}

type Given = { readonly id: EventId; readonly given: string }

/** The parameter wins: a page that reloads has it, but not the header. @throws ApiError 400 */
function readEventId(params: Params, header: Request['header']): Given | undefined {
  const given = params.get('last_event_id') ?? header('last-event-id')
  if (given === undefined || given === '') return undefined
  const id = parseEventId(given)
  if (id !== undefined) return { id, given }
  throw badParameter('last_event_id', given, 'the id of an event, or a cursor of /v1/changes')
}
