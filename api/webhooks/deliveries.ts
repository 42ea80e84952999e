/** What was sent for a webhook, what waits, what was given up; and how to send it again. */
import { eventKinds, triggers } from '../../core/delivery/delivery.ts'
import { toIsoMs } from '../../core/iso-time.ts'
import type { LoggedAttempt } from '../../operate/webhooks/attempt-log.ts'
import { NoDelivery, OwnerAway } from '../../operate/webhooks/delivery-errors.ts'
import {
  attemptsOf,
  type DeliverySources,
  isOf,
  waitingOf,
} from '../../operate/webhooks/find-delivery.ts'
import { type Attempt, attemptOutcomes } from '../../schemas/webhooks/attempt.ts'
import type { WaitingDelivery } from '../../schemas/webhooks/webhook-requests.ts'
import { ApiError, badParameter } from '../http/api-error.ts'
import { type Params, readChoice, readLimit, readPeriod, readWord } from '../http/params.ts'

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

/**
 * Attempts read for one page; a page with fewer matches than its limit has a cursor to continue.
 */
const mostLookedAt = 1_000
/** The newest of a delivery: with requests and responses they are about 10 KB each. */
export const mostAttemptsShown = 50

const toIsoMsOrNull = (text: string | null): string | null => text && toIsoMs(text)

/** An attempt in a list: without request and response, which the delivery itself shows. */
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
  at: toIsoMs(attempt.at),
  outcome: attempt.outcome,
  error: attempt.error,
  error_detail: attempt.error_detail,
  next_attempt_at: toIsoMsOrNull(attempt.next_attempt_at),
  response_status: attempt.response?.status ?? null,
  duration_ms: attempt.timings.total,
})

/** All of an attempt but its webhook, which the answer names elsewhere. */
export const attemptView = (attempt: Attempt): object => ({
  attempt: attempt.attempt,
  trigger: attempt.trigger,
  at: toIsoMs(attempt.at),
  outcome: attempt.outcome,
  error: attempt.error,
  error_detail: attempt.error_detail,
  next_attempt_at: toIsoMsOrNull(attempt.next_attempt_at),
  request: attempt.request,
  response: attempt.response,
  timings_ms: attempt.timings,
})

/** Its id follows from its event, so it has none once the event is in no stream any more. */
const waitingBrief = ({ delivery, due_at, ...rest }: WaitingDelivery) => ({
  id: delivery || null,
  ...rest,
  due_at: toIsoMsOrNull(due_at),
})

export type AttemptPage = {
  readonly count: number
  readonly next_cursor: string | null
  readonly deliveries: readonly (AttemptBrief | ReturnType<typeof waitingBrief>)[]
  /** With state=pending or dead: how many there are in total. */
  readonly total?: number
  /** More wait than the owner holds: the others follow from the streams. */
  readonly is_behind?: boolean
}

/** @throws ApiError 400, AttemptsAway, OwnerAway */
export async function listDeliveries(
  { log, owner, gone }: DeliverySources,
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
  const matches: LoggedAttempt[] = []
  let looked = 0
  let lastSeq = 0
  for await (const logged of log.read(webhook, { before: readAtCursor(params), gone })) {
    if (matches.length === limit || looked === mostLookedAt) {
      return page(matches, atCursor(lastSeq))
    }
    looked++
    lastSeq = logged.seq
    if (isWanted(logged.attempt)) matches.push(logged)
  }
  return page(matches, null)
}

/** Where a page of attempts ended, as an opaque text. @param seq of the last one read */
export const atCursor = (seq: number): string => Buffer.from(`a:${seq}`).toString('base64url')

/** @throws ApiError 400 */
export function readAtCursor(params: Params): number | undefined {
  const word = params.get('cursor')
  if (word === undefined) return undefined
  const place = word.length > 64 ? '' : Buffer.from(word, 'base64url').toString('latin1')
  const [, seq = ''] = /^a:([1-9]\d{0,14})$/.exec(place) ?? []
  if (seq === '') throw badParameter('cursor', word, 'a next_cursor of an earlier answer')
  return Number(seq)
}

const page = (logged: readonly LoggedAttempt[], next: string | null): AttemptPage => ({
  count: logged.length,
  next_cursor: next,
  deliveries: logged.map(({ attempt }) => briefOf(attempt)),
})

function refuseOthers(params: Params, state: string): void {
  const other = [...params.keys()].find((name) => name !== 'state' && name !== 'limit')
  if (other === undefined) return
  throw new ApiError(400, 'bad_parameter', `${other} cannot be combined with state=${state}`, {
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

/**
 * A delivery with its newest stored attempts, newest first, and its present state.
 * @throws NoDelivery, AttemptsAway
 */
export async function showDelivery(sources: DeliverySources, webhook: string, id: string) {
  const attempts: Attempt[] = []
  for await (const { attempt } of attemptsOf(sources, webhook, id)) {
    if (attempts.push(attempt) === mostAttemptsShown) break
    // nothing of it was sent before its first attempt
    if (attempt.attempt === 1 && attempt.trigger === 'event') break
  }
  const waiting = await findWaiting(sources, webhook, id)
  const [newest] = attempts
  const known = waiting ?? newest
  if (known === undefined) throw new NoDelivery(id, 'unknown')
  return {
    id: known.delivery || null,
    key: known.key,
    event: known.event,
    state: waiting?.state ?? stateAfter(newest),
    due_at: toIsoMsOrNull(waiting?.due_at ?? null),
    attempts: attempts.map(attemptView),
  }
}

/**
 * What follows from the log alone: the owner may be away, and does not hold finished deliveries.
 */
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

/** undefined also if the owner is away: the log is shown all the same. */
async function findWaiting(
  sources: DeliverySources,
  webhook: string,
  id: string,
): Promise<WaitingDelivery | undefined> {
  try {
    return await waitingOf(sources, webhook, id)
  } catch (error) {
    if (!(error instanceof OwnerAway)) throw error
    return undefined
  }
}
