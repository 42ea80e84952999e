/**
 * How often a webhook would have fired in the last 30 days, or since the network's first day: the events
 * that the log decided then, matched by the rules by which the notifier matches them.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { criticalAqi, defaultAqiThreshold } from '../../../core/air/thresholds.ts'
import { type EventKind, sourceOf } from '../../../core/delivery/delivery.ts'
import { createWebhookIndex } from '../../../core/delivery/webhook-match.ts'
import { formatIso } from '../../../core/iso-time.ts'
import { dayMs, floorTo, secondMs } from '../../../core/time.ts'
import { type AirEvent, parseEvent } from '../../../schemas/log/event.ts'
import { matchEvent } from '../../../schemas/match-event.ts'
import { eventsStream } from '../../../schemas/subjects.ts'
import { checkWebhookBody, type WebhookBodies } from '../../../schemas/webhooks/webhook-bodies.ts'
import { rateBy } from '../rate-by.ts'
import { away } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import { inTurn } from './in-turn.ts'
import { jsonRoute, wrongFields } from './json-route.ts'

type Options = {
  readonly nc: NatsConnection
  readonly nowMs: () => number
  readonly clockMs: () => number
}

const lookBackMs = 30 * dayMs
/** Events of all sensors that are read, the newest of them. */
const mostEvents = 50_000
const pageSize = 500
const answerWithinMs = 5 * secondMs
const limit = { perSecond: 1 / 2, burst: 10 }

export function backTestRoute({ nc, nowMs, clockMs }: Options): DashboardRoute {
  const asking = rateBy({ limit, clockMs })
  const turns = inTurn()
  return jsonRoute({
    method: 'POST',
    path: '/data/back-test',
    needs: 'session',
    answer: async ({ body, session: { account } }) => {
      const wanted = wantedOf(body)
      asking.take(account.id)
      return await turns(account.id, () => backTest(nc, wanted, nowMs()))
    },
  })
}

type Wanted = Pick<WebhookBodies['create'], 'events' | 'filters'>

/** @throws Refusal 400 */
function wantedOf({ events, filters, ...others }: Readonly<Record<string, unknown>>): Wanted {
  // as a webhook's, whose address plays no part here
  const sent = {
    ...others,
    url: 'https://example.org',
    events,
    ...(filters != null && { filters }),
  }
  const checked = checkWebhookBody('create', sent)
  if ('wrong' in checked) throw wrongFields(checked.wrong)
  return checked.body
}

/** Why the number may be smaller than what would have been sent. */
type LeftOut =
  /** These come with every reading, and are not counted. */
  | 'readings'
  /** Rises are in the log only where a threshold in use was crossed, so the number is a lower bound. */
  | 'threshold'
  /** The older events were not read, because there are too many. */
  | 'older'

async function backTest(
  nc: NatsConnection,
  { events, filters = {} }: Wanted,
  nowMs: number,
): Promise<object> {
  const threshold = Math.floor(filters.aqi_threshold ?? defaultAqiThreshold)
  const index = createWebhookIndex()
  index.put({
    number: 1,
    events,
    sensor: filters.sensor_id,
    area: filters.area,
    threshold,
    minQuality: filters.min_quality,
  })
  const counts: Partial<Record<EventKind, number>> = {}
  for (const kind of events) if (sourceOf(kind) === 'events') counts[kind] = 0
  const days = new Map<string, number>()
  const { since, looked, isCut } = await readEvents(nc, filters.sensor_id, nowMs, (event, atMs) =>
    matchEvent(event, index, (_, kind) => {
      counts[kind] = (counts[kind] ?? 0) + 1
      const day = formatIso(atMs).slice(0, 10)
      days.set(day, (days.get(day) ?? 0) + 1)
    }),
  )
  const isInUse = threshold === defaultAqiThreshold || threshold === criticalAqi
  const leftOut: LeftOut[] = [
    ...(events.some((kind) => sourceOf(kind) !== 'events') ? (['readings'] as const) : []),
    ...(events.includes('aqi.high') && !isInUse ? (['threshold'] as const) : []),
    ...(isCut ? (['older'] as const) : []),
  ]
  return {
    since: formatIso(since),
    looked,
    counts,
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    days: datesSince(since, nowMs).map((date) => ({ date, count: days.get(date) ?? 0 })),
    left_out: leftOut,
  }
}

/** Of UTC, from the day of `sinceMs` to that of now. */
const datesSince = (sinceMs: number, nowMs: number): readonly string[] => {
  const firstMs = floorTo(sinceMs, dayMs)
  const count = Math.round((floorTo(nowMs, dayMs) - firstMs) / dayMs) + 1
  return Array.from({ length: count }, (_, i) => formatIso(firstMs + i * dayMs).slice(0, 10))
}

/** Oldest first. What is not an event about a sensor is passed over. */
async function readEvents(
  nc: NatsConnection,
  sensor: string | undefined,
  nowMs: number,
  take: (event: AirEvent, atMs: number) => void,
): Promise<{ readonly since: number; readonly looked: number; readonly isCut: boolean }> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state, created } = await manager.streams.info(eventsStream)
  // a stream that was restored is younger than its first event
  const begunMs = Math.min(
    ...[created, state.first_ts].map((time) => Date.parse(time)).filter((ms) => ms > 0),
  )
  const fromMs = Math.max(nowMs - lookBackMs, begunMs)
  const subject = sensor === undefined ? 'air.events.*.*' : `air.events.*.${sensor}`
  // one sensor's are few, wherever they are
  const first = sensor === undefined ? Math.max(1, state.last_seq - mostEvents + 1) : 1
  let looked = 0
  let since = nowMs
  for (let seq = first; looked < mostEvents; ) {
    const page = await readPage(nc, subject, seq)
    for (const { event, atMs } of page) {
      if (atMs < fromMs) continue
      since = Math.min(since, atMs)
      looked++
      if (event !== undefined) take(event, atMs)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) break
    seq = last.seq + 1
  }
  const isCut = first > state.first_seq && since > fromMs
  return { since: isCut ? since : fromMs, looked, isCut }
}

type Stored = { readonly seq: number; readonly atMs: number; readonly event: AirEvent | undefined }

/** nats-server ADR-31. @throws Refusal 503 */
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
  throw away('events_unavailable', 'the events cannot be read right now')
}
