/** What was sent for a webhook, what waits, what was given up; and how to have it sent again. */
import { eventKinds, triggers } from '../../core/delivery/delivery.ts'
import { inFull } from '../../core/iso-time.ts'
import { type Attempt, attemptOutcomes } from '../../schemas/webhooks/attempt.ts'
import type { WaitingDelivery } from '../../schemas/webhooks/webhook-requests.ts'
import { ApiError } from '../http/api-error.ts'
import { type Params, readChoice, readLimit, readPeriod, readWord } from '../http/params.ts'
import type { AttemptLog, LoggedAttempt } from './attempt-log.ts'
import { atCursor, readAtCursor } from './cursor.ts'
import type { DeliveryOwner } from './delivery-owner.ts'
import { noDelivery } from './webhook-error.ts'

type Options = {
  readonly log: AttemptLog
  readonly owner: DeliveryOwner
  /** Nobody needs the answer any more. */
  readonly gone?: AbortSignal
}

export const deliveryParams = [
  'state',
  'event',
  'outcome',
  'trigger',
  'delivery',
  'start_time',
  'end_time',
  'limit',
  'cursor',
] as const

/** Attempts looked at for one page; a page that finds fewer than asked for says where to go on. */
const mostLookedAt = 1_000
const mostListed = 1_000
/** Of one delivery, the newest: with what was said in them they are some 10 KB each. */
export const mostAttemptsShown = 50

const inFullOrNull = (text: string | null): string | null => text && inFull(text)

/** An attempt in a list: what was said in it is told by the delivery itself. */
type AttemptBrief = Pick<
  Attempt,
  'event' | 'key' | 'trigger' | 'attempt' | 'at' | 'outcome' | 'error' | 'error_detail'
> & {
  readonly id: string
  readonly next_attempt_at: string | null
  readonly response_status: number | null
  readonly duration_ms: number | null
}

const briefOf = (attempt: Attempt): AttemptBrief => ({
  id: attempt.delivery,
  key: attempt.key,
  event: attempt.event,
  trigger: attempt.trigger,
  attempt: attempt.attempt,
  at: inFull(attempt.at),
  outcome: attempt.outcome,
  error: attempt.error,
  error_detail: attempt.error_detail,
  next_attempt_at: inFullOrNull(attempt.next_attempt_at),
  response_status: attempt.response?.status ?? null,
  duration_ms: attempt.timings.total,
})

/** All of an attempt but whose it is, which stands beside it. */
export const attemptView = (attempt: Attempt): object => ({
  attempt: attempt.attempt,
  trigger: attempt.trigger,
  at: inFull(attempt.at),
  outcome: attempt.outcome,
  error: attempt.error,
  error_detail: attempt.error_detail,
  next_attempt_at: inFullOrNull(attempt.next_attempt_at),
  request: attempt.request,
  response: attempt.response,
  timings_ms: attempt.timings,
})

/** Its id follows from its event, so it has none any more once that is in no stream. */
const waitingBrief = ({ delivery, due_at, ...rest }: WaitingDelivery) => ({
  id: delivery || null,
  ...rest,
  due_at: inFullOrNull(due_at),
})

export type AttemptPage = {
  readonly count: number
  readonly next_cursor: string | null
  readonly deliveries: readonly (AttemptBrief | ReturnType<typeof waitingBrief>)[]
  /** Of what waits: all there are. */
  readonly total?: number
  /** More wait than the owner holds: the rest follows from the streams. */
  readonly is_behind?: boolean
}

/** @throws ApiError 400, 503 */
export async function listDeliveries(
  { log, owner, gone }: Options,
  webhook: string,
  params: Params,
): Promise<AttemptPage> {
  const limit = readLimit(params, 50)
  const state = readChoice(params, 'state', ['tried', 'pending', 'dead']) ?? 'tried'
  if (state !== 'tried') {
    refuseOthers(params, state)
    const { total, deliveries, is_behind } = await owner.list(webhook, { state, limit })
    const listed = deliveries.map(waitingBrief)
    return { count: listed.length, total, is_behind, next_cursor: null, deliveries: listed }
  }
  const isWanted = readAttemptFilter(params)
  const found: LoggedAttempt[] = []
  let looked = 0
  let lastSeq = 0
  for await (const logged of log.read(webhook, { before: readAtCursor(params), gone })) {
    if (found.length === limit || looked === mostLookedAt) {
      return page(found, atCursor(lastSeq))
    }
    looked++
    lastSeq = logged.seq
    if (isWanted(logged.attempt)) found.push(logged)
  }
  return page(found, null)
}

const page = (found: readonly LoggedAttempt[], next: string | null): AttemptPage => ({
  count: found.length,
  next_cursor: next,
  deliveries: found.map(({ attempt }) => briefOf(attempt)),
})

function refuseOthers(params: Params, state: string): void {
  const other = [...params.keys()].find((name) => name !== 'state' && name !== 'limit')
  if (other === undefined) return
  throw new ApiError(400, 'bad_parameter', `${other} cannot be asked for with state=${state}`, {
    details: {
      parameter: other,
      given: params.get(other)?.slice(0, 100),
      expected: 'given without state, or with state=tried',
    },
  })
}

function readAttemptFilter(params: Params): (attempt: Attempt) => boolean {
  const event = readChoice(params, 'event', eventKinds)
  const outcome = readChoice(params, 'outcome', attemptOutcomes)
  const trigger = readChoice(params, 'trigger', triggers)
  const delivery = readWord(params, 'delivery')
  const { fromMs = -Infinity, toMs = Infinity } = readPeriod(params)
  return (attempt) => {
    if (event !== undefined && attempt.event !== event) return false
    if (outcome !== undefined && attempt.outcome !== outcome) return false
    if (trigger !== undefined && attempt.trigger !== trigger) return false
    if (delivery !== undefined && !isOf(attempt, delivery)) return false
    const atMs = Date.parse(attempt.at)
    return atMs >= fromMs && atMs < toMs
  }
}

/** @param id of the delivery, or its key */
const isOf = ({ delivery, key }: Pick<Attempt, 'delivery' | 'key'>, id: string): boolean =>
  delivery === id || key === id

/**
 * A delivery with its newest attempts that are kept, newest first, and what is to become of it.
 * @throws ApiError 404
 */
export async function showDelivery(options: Options, webhook: string, id: string) {
  const attempts: Attempt[] = []
  for await (const { attempt } of findAttempts(options, webhook, id)) {
    if (attempts.push(attempt) === mostAttemptsShown) break
    // nothing of it was sent before its first attempt
    if (attempt.attempt === 1 && attempt.trigger === 'event') break
  }
  const waiting = await findWaiting(options, webhook, id)
  const [newest] = attempts
  const known = waiting ?? newest
  if (known === undefined) throw noDelivery(id)
  return {
    id: known.delivery || null,
    key: known.key,
    event: known.event,
    state: waiting?.state ?? stateAfter(newest),
    due_at: inFullOrNull(waiting?.due_at ?? null),
    attempts: attempts.map(attemptView),
  }
}

/** What the log alone says: the owner may be away, and holds nothing that is done with. */
function stateAfter(attempt: Attempt | undefined): string {
  switch (attempt?.outcome) {
    case 'delivered':
    case 'dead':
    case 'disabled':
    case 'cancelled':
      return attempt.outcome
    case 'retry':
    case undefined:
      return 'pending'
  }
}

/** Undefined, too, where the owner is away: the log is told all the same. */
async function findWaiting(
  options: Options,
  webhook: string,
  id: string,
): Promise<WaitingDelivery | undefined> {
  try {
    return await askWaiting(options, webhook, id)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 503) throw error
    return undefined
  }
}

/** @throws ApiError 503 */
async function askWaiting(
  { owner }: Options,
  webhook: string,
  id: string,
): Promise<WaitingDelivery | undefined> {
  for (const state of ['pending', 'dead'] as const) {
    const { deliveries } = await owner.list(webhook, { state, limit: mostListed })
    const found = deliveries.find((one) => isOf(one, id))
    if (found !== undefined) return found
  }
  return undefined
}

async function* findAttempts({ log, gone }: Options, webhook: string, id: string) {
  for await (const logged of log.read(webhook, { containing: id, gone })) {
    if (isOf(logged.attempt, id)) yield logged
  }
}

/**
 * The natural key by which the owner knows a delivery. Only of one that there was: whoever makes up
 * a key would be told, signed, what never happened.
 * @throws ApiError 404, 503
 */
export async function keyOfDelivery(
  options: Options,
  webhook: string,
  id: string,
): Promise<string> {
  for await (const { attempt } of findAttempts(options, webhook, id)) return attempt.key
  const waiting = await askWaiting(options, webhook, id)
  if (waiting === undefined) throw noDelivery(id)
  return waiting.key
}
