/** The newest events that the log decided, as EVENTS keeps them for 30 days. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { secondMs } from '../../core/time.ts'
import { type AirEvent, parseEvent } from '../../schemas/log/event.ts'
import { eventsStream } from '../../schemas/subjects.ts'
import { unavailable } from '../http/api-error.ts'

export type PastEvent = { readonly event: AirEvent; readonly atMs: number }

export type PastEvents = {
  readonly events: readonly PastEvent[]
  /** They are complete from then on, by the broker's clock. */
  readonly sinceMs: number
  /** When the network began, as far as EVENTS says. */
  readonly begunMs: number
}

export const mostEvents = 50_000
const pageSize = 500
const answerWithinMs = 5 * secondMs

/**
 * Oldest first; what is not an event about a sensor is left out.
 * @param sensor undefined: of all
 * @throws ApiError 503
 */
export async function readPastEvents(
  nc: NatsConnection,
  sensor: SensorId | undefined,
  fromMs: number,
): Promise<PastEvents> {
  const { state, begunMs } = await lookAtStream(nc)
  const subject = sensor === undefined ? 'air.events.*.*' : `air.events.*.${sensor}`
  // one sensor's are few, wherever they are
  const first = sensor === undefined ? Math.max(1, state.last_seq - mostEvents + 1) : 1
  const events: PastEvent[] = []
  let oldestMs = Infinity
  for (let seq = first; events.length < mostEvents; ) {
    const page = await readPage(nc, subject, seq)
    for (const { event, atMs } of page) {
      oldestMs = Math.min(oldestMs, atMs)
      if (atMs >= fromMs && event !== undefined) events.push({ event, atMs })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) break
    seq = last.seq + 1
  }
  // the first message of a stream without any is 0
  const isCut = first > Math.max(1, state.first_seq) && oldestMs > fromMs
  return { events, sinceMs: isCut ? oldestMs : fromMs, begunMs }
}

/** Where no kind that is counted is among them. */
export const noEvents = async (nc: NatsConnection, fromMs: number): Promise<PastEvents> => ({
  events: [],
  sinceMs: fromMs,
  begunMs: (await lookAtStream(nc)).begunMs,
})

async function lookAtStream(nc: NatsConnection) {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state, created } = await manager.streams.info(eventsStream)
  // a stream that was restored is younger than its first event; an empty one has the year 1
  const times = [created, state.first_ts].map((time) => Date.parse(time)).filter((ms) => ms > 0)
  return { state, begunMs: Math.min(...times) }
}

type Stored = { readonly seq: number; readonly atMs: number; readonly event: AirEvent | undefined }

/** nats-server ADR-31. @throws ApiError 503 */
async function readPage(
  nc: NatsConnection,
  subject: string,
  seq: number,
): Promise<readonly Stored[]> {
  const question = JSON.stringify({ seq, next_by_subj: subject, batch: pageSize })
  const answers = await nc.requestMany(`$JS.API.DIRECT.GET.${eventsStream}`, question, {
    strategy: 'sentinel',
    maxWait: answerWithinMs,
  })
  const page: Stored[] = []
  for await (const { headers, data } of answers) {
    const status = headers?.code ?? 0
    if (status === 204 || status === 404) return page
    if (status !== 0) break
    const event = parseEvent(data)
    page.push({
      seq: Number(headers?.get('Nats-Sequence')),
      atMs: Date.parse(headers?.get('Nats-Time-Stamp') ?? ''),
      event: typeof event === 'string' ? undefined : event,
    })
  }
  throw unavailable('webhooks_unavailable', 'the events cannot be read right now')
}
