/** GET /v1/stream: what happens, as it happens, as server-sent events. */
import type { ServerResponse } from 'node:http'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId, SensorIdRules } from '../core/sensor-id.ts'
import type { Logger } from '../runtime/log.ts'
import type { Request, Route } from './answer.ts'
import { ApiError, badParameter, unavailable } from './api-error.ts'
import type { AreaDirectory } from './area-directory.ts'
import { atMost } from './at-most.ts'
import { findSensor } from './find-sensor.ts'
import { type Params, readWord } from './params.ts'
import type { ReadingTexts } from './reading-texts.ts'
import type { Entry, SensorBoard } from './sensor-board.ts'
import { readSensorFilter } from './sensor-filter.ts'
import { parseCursor, type StreamCursor } from './stream-frames.ts'
import type { Listener, StreamHub } from './stream-hub.ts'
import { createReplay } from './stream-replay.ts'

type Options = {
  readonly nc: NatsConnection
  readonly hub: StreamHub
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly texts: Pick<ReadingTexts, 'textOf'>
  readonly log: Logger
  readonly mostStreams?: number
  readonly mostOfAnAccount?: number
}

const retryMs = 2_000
const mostReplays = 8

export function streamEvents(options: Options): Route {
  const { nc, hub, texts, log, mostStreams = 1_000, mostOfAnAccount = 10 } = options
  const running = new Map<string, number>()
  const inTurn = atMost({ running: mostReplays, waiting: mostStreams })
  const replay = createReplay({
    nc,
    textOf: (reading) => texts.textOf(reading, 'full'),
    position: hub.position,
  })

  /** @throws ApiError 429, 503 */
  const mustHaveRoom = (account: string): void => {
    if (!hub.isLive()) throw unavailable('stream_unavailable', 'the stream cannot be joined yet')
    if (hub.size() >= mostStreams) throw unavailable('overloaded', 'too many streams are open')
    if ((running.get(account) ?? 0) < mostOfAnAccount) return
    throw new ApiError(
      429,
      'too_many_streams',
      `an account has at most ${mostOfAnAccount} streams at once`,
      { details: { limit: mostOfAnAccount }, headers: { 'retry-after': '10' } },
    )
  }
  const count = (account: string, out: ServerResponse): void => {
    running.set(account, (running.get(account) ?? 0) + 1)
    out.once('close', () => {
      const left = (running.get(account) ?? 1) - 1
      if (left > 0) running.set(account, left)
      else running.delete(account)
    })
  }

  const resume = async (listener: Listener, cursor: StreamCursor): Promise<void> => {
    const { out, wants } = listener
    const gone = new AbortController()
    out.once('close', () => gone.abort())
    try {
      const onCaughtUp = (seq: number): void => hub.join(listener, seq)
      await inTurn(() => replay({ cursor, out, wants, gone: gone.signal, onCaughtUp }))
    } catch (error) {
      if (gone.signal.aborted) return
      log.warn({ err: error }, 'could not replay the log to a stream')
      out.destroy()
    }
  }

  return {
    path: '/v1/stream',
    params: ['sensor_id', 'area', 'bbox', 'last_event_id'],
    types: ['text/event-stream'],
    answer: ({ params, header, caller }) => {
      if (caller === undefined) throw new Error('the stream is never open')
      const wants = readWanted(params, options)
      const cursor = readCursor(params, header)
      // the dashboard streams for many people, and counts them itself
      const account = caller.isInternal ? undefined : caller.account
      mustHaveRoom(account ?? '')
      return {
        type: 'text/event-stream',
        headers: { 'x-accel-buffering': 'no' },
        body: Buffer.alloc(0),
        follow: (out) => {
          if (account !== undefined) count(account, out)
          const listener = { out, wants, again: caller.again }
          hub.keep(listener)
          out.write(`retry: ${retryMs}\n\n`)
          if (cursor !== undefined) {
            void resume(listener, cursor)
            return
          }
          out.write(`id: ${hub.position()}\n\n`)
          hub.join(listener, hub.position())
        },
      }
    },
  }
}

/** @returns undefined where all sensors are wanted @throws ApiError 400, 404 */
function readWanted(
  params: Params,
  { board, rules, directory }: Options,
): ((sensor: SensorId) => boolean) | undefined {
  const name = readWord(params, 'sensor_id')
  const only = name === undefined ? undefined : needInUse(findSensor(board, rules, name), name)
  const filter = readSensorFilter(params, { directory })
  if (filter === undefined) return only && ((sensor) => sensor === only)
  return (sensor) => {
    if (only !== undefined && sensor !== only) return false
    const entry = board.get(sensor)
    return entry !== undefined && filter(entry)
  }
}

/** A stream that nothing can ever come through is a slip. @throws ApiError 400 */
function needInUse({ sensor }: Entry, given: string): SensorId {
  if (sensor.retiredMs === undefined) return sensor.id
  const expected = 'a sensor that is in use: this one was retired and sends nothing'
  throw badParameter('sensor_id', given, expected)
}

/** The parameter wins: a page that reloads has it, and no header. @throws ApiError 400 */
function readCursor(params: Params, header: Request['header']): StreamCursor | undefined {
  const text = params.get('last_event_id') ?? header('last-event-id')
  if (text === undefined || text === '') return undefined
  const cursor = parseCursor(text)
  if (cursor !== undefined) return cursor
  throw badParameter('last_event_id', text, 'the id of an event of this stream')
}
