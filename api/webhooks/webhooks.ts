/** /v1/webhooks: a premium account's webhooks, and what was sent for them. */
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import type { AttemptLog } from '../../operate/webhooks/attempt-log.ts'
import type { DeliveryOwner } from '../../operate/webhooks/delivery-owner.ts'
import { type DeliverySources, keyOfDelivery } from '../../operate/webhooks/find-delivery.ts'
import { viewOf, type WebhookView } from '../../operate/webhooks/view.ts'
import type { SecretBox } from '../../runtime/secrets/seal-secret.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import {
  checkWebhookBody,
  defaultOverlapSeconds,
  type WebhookBodies,
  wrongField,
} from '../../schemas/webhooks/webhook-bodies.ts'
import {
  type Answer,
  jsonAnswer,
  jsonType,
  type Method,
  type Request,
  type Route,
} from '../http/answer.ts'
import { type FairLineBounds, fairLine } from '../http/fair-line.ts'
import { nextLink } from '../http/next-link.ts'
import { instantIn } from '../http/params.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { isArmed } from './armed-now.ts'
import type { BackTest } from './back-test.ts'
import { attemptView, deliveryParams, listDeliveries, showDelivery } from './deliveries.ts'
import { creationOf, readIdempotencyKey } from './idempotency.ts'
import { type JudgeWanted, wellFormed } from './judge-wanted.ts'
import { patched, resumed } from './patch.ts'
import { newSecret, rotated } from './secrets.ts'
import type { WebhookBook } from './webhook-book.ts'
import { invalidBody, premiumOnly, toWebhookError } from './webhook-error.ts'

type Options = {
  readonly book: WebhookBook
  /** The tier of an account; undefined: the account does not exist. */
  readonly tierOf: (account: string) => string | undefined
  readonly judge: JudgeWanted
  readonly box: () => Promise<SecretBox>
  readonly board: SensorBoard
  readonly log: AttemptLog
  readonly owner: DeliveryOwner
  readonly backTest: BackTest
  readonly nowMs: () => number
}

/** What a handler is given: the calling account, and its own webhook if the path names one. */
type OwnRequest = Request & { readonly account: string }
type Handler<T> = (request: T) => Promise<Answer>

/** An account that is not premium any more still sees its webhooks, and may delete them. */
type Admission = { readonly isForAll?: boolean }
type RouteOptions = Admission & Pick<Route, 'isPart'> & { readonly params?: readonly string[] }
const forAll: Admission = { isForAll: true }

/** Finding a delivery may read 5,000 attempts of 10 KB. */
const logBounds: FairLineBounds = {
  running: 8,
  runningEach: 2,
  waiting: 256,
  waitingEach: 32,
  waitMs: 10 * secondMs,
  workMs: 15 * secondMs,
}

export const webhookRoutes = (options: Options): readonly Route[] => {
  const desk = new Desk(options)
  return [...recordRoutes(desk), ...stateRoutes(desk), ...deliveryRoutes(desk), backTestRoute(desk)]
}

/** What the routes share: who may call, whose webhook it is, and how one is shown. */
class Desk {
  readonly options: Options
  readonly #inTurn = fairLine(logBounds)

  constructor(options: Options) {
    this.options = options
  }

  route(
    method: Method,
    path: string,
    handler: Handler<OwnRequest>,
    { params = [], isPart = false, ...admission }: RouteOptions = {},
  ): Route {
    return {
      method,
      path: `/v1/webhooks${path}`,
      params,
      types: [jsonType],
      isPart,
      answer: async (request) => {
        try {
          return await handler({ ...request, account: this.#admit(request, admission) })
        } catch (error) {
          throw toWebhookError(error)
        }
      },
    }
  }

  /** A route of one webhook of the caller's account. */
  own(
    method: Method,
    path: string,
    handler: Handler<OwnRequest & { readonly webhook: Webhook }>,
    options: RouteOptions = {},
  ): Route {
    return this.route(
      method,
      `/:webhook_id${path}`,
      async (request) => {
        const id = request.names['webhook_id'] ?? ''
        return handler({ ...request, webhook: await this.options.book.need(request.account, id) })
      },
      options,
    )
  }

  viewNow(webhook: Webhook): WebhookView {
    const { nowMs } = this.options
    return viewOf(webhook, { nowMs: nowMs(), isPremium: this.#isPremium(webhook.account) })
  }

  view(webhook: Webhook, more: object = {}): object {
    return { status: 'success', webhook: { ...this.viewNow(webhook), ...more } }
  }

  /** The account may be deleted, or the key revoked, during the DNS query: judged at each write. */
  change(
    { account, caller }: OwnRequest,
    { id }: Webhook,
    wanted: (webhook: Webhook) => Webhook,
  ): Promise<Webhook> {
    return this.options.book.change(account, id, (current) => {
      caller?.checkAgain()
      return wanted(current)
    })
  }

  /** Reads from the log of attempts, in the account's turn. */
  fromLog<T>(
    { account, asker }: OwnRequest,
    read: (from: DeliverySources) => Promise<T>,
  ): Promise<T> {
    const { log, owner } = this.options
    const turn = { share: account, gone: asker.gone() }
    return this.#inTurn(turn, (gone) => read({ log, owner, gone }))
  }

  #isPremium(account: string): boolean {
    return this.options.tierOf(account) === 'premium'
  }

  #admit({ caller }: Request, { isForAll }: Admission): string {
    if (caller === undefined) throw new Error('a webhook route always needs a key')
    const { account } = caller
    if (!isForAll && !this.#isPremium(account))
      throw premiumOnly(this.options.tierOf(account) ?? 'free')
    return account
  }
}

/** Create, show, change and delete. */
function recordRoutes(desk: Desk): readonly Route[] {
  const { book, judge } = desk.options
  return [
    desk.route(
      'GET',
      '',
      async ({ account }) => {
        const webhooks = book.list(account).map((webhook) => desk.viewNow(webhook))
        return jsonAnswer({ status: 'success', count: webhooks.length, webhooks })
      },
      forAll,
    ),
    desk.route('POST', '', (request) =>
      create(desk.options, request, (webhook, more) => desk.view(webhook, more)),
    ),
    desk.own('GET', '', async ({ webhook }) => jsonAnswer(desk.view(webhook)), forAll),
    desk.own('PATCH', '', async (request) => {
      const { webhook, readBody } = request
      const body = await judgedForm('patch', await readBody(), judge)
      const wanted = await patched(body, webhook, judge)
      return jsonAnswer(desk.view(await desk.change(request, webhook, wanted)))
    }),
    desk.own(
      'DELETE',
      '',
      async ({ account, webhook: { id }, readBody }) => {
        checked('nothing', await readBody())
        await book.remove(account, id)
        return jsonAnswer({ status: 'success', webhook: { id, deleted: true } })
      },
      forAll,
    ),
  ]
}

/** Pause, resume, rotate the secret, test. */
function stateRoutes(desk: Desk): readonly Route[] {
  const { nowMs, owner } = desk.options
  return [
    desk.own('POST', '/pause', async (request) => {
      checked('nothing', await request.readBody())
      const pause = (before: Webhook): Webhook => ({ ...before, paused: true })
      return jsonAnswer(desk.view(await desk.change(request, request.webhook, pause)))
    }),
    desk.own('POST', '/resume', async (request) => {
      checked('nothing', await request.readBody())
      return jsonAnswer(desk.view(await desk.change(request, request.webhook, resumed)))
    }),
    desk.own('POST', '/rotate', async (request) => {
      const { webhook, readBody } = request
      const { overlap_seconds = defaultOverlapSeconds } = checked('rotate', await readBody())
      const overlapMs = overlap_seconds * secondMs
      const rotation = { secret: newSecret(), overlapMs, nowMs: nowMs() }
      const box = await desk.options.box()
      const change = (before: Webhook): Webhook => rotated(before, box, rotation)
      const changed = await desk.change(request, webhook, change)
      return jsonAnswer(desk.view(changed, { secret: rotation.secret }))
    }),
    desk.own('POST', '/test', async ({ webhook, readBody }) => {
      const { event = webhook.events[0] ?? 'aqi.high' } = checked('test', await readBody())
      const attempt = await owner.test(webhook.id, event)
      return jsonAnswer({
        status: 'success',
        delivery: attempt.delivery,
        attempt: attemptView(attempt),
      })
    }),
  ]
}

/** What was sent, and what is to be sent again. */
function deliveryRoutes(desk: Desk): readonly Route[] {
  const { nowMs, owner } = desk.options
  return [
    desk.own(
      'GET',
      '/deliveries',
      async (request) => {
        const { webhook, params } = request
        const page = await desk.fromLog(request, (from) => listDeliveries(from, webhook.id, params))
        const path = `/v1/webhooks/${webhook.id}/deliveries`
        const headers = nextLink(path, params, page.next_cursor)
        return jsonAnswer({ status: 'success', ...page }, { headers })
      },
      { ...forAll, params: deliveryParams },
    ),
    desk.own(
      'GET',
      '/deliveries/:delivery_id',
      async (request) => {
        const { webhook, names } = request
        const id = names['delivery_id'] ?? ''
        const delivery = await desk.fromLog(request, (from) => showDelivery(from, webhook.id, id))
        return jsonAnswer({ status: 'success', delivery })
      },
      forAll,
    ),
    desk.own('POST', '/deliveries/:delivery_id/replay', async (request) => {
      const { webhook, names, readBody } = request
      checked('nothing', await readBody())
      const name = names['delivery_id'] ?? ''
      const key = await desk.fromLog(request, (from) => keyOfDelivery(from, webhook.id, name))
      const id = await owner.replay(webhook.id, key)
      return jsonAnswer({ status: 'success', delivery: { id, key } }, { status: 202 })
    }),
    desk.own('POST', '/recover', async ({ webhook, readBody }) => {
      const since = sinceOf(checked('recover', await readBody()).since, nowMs())
      await owner.recover(webhook.id, since)
      return jsonAnswer({ status: 'success', since }, { status: 202 })
    }),
  ]
}

/** Of the page on which a webhook is filled in, which has no address yet. */
function backTestRoute(desk: Desk): Route {
  const { judge, backTest } = desk.options
  return desk.route(
    'POST',
    '/back-test',
    async ({ asker, readBody }) => {
      const sent = Object(await readBody())
      const result = checkWebhookBody('create', { ...sent, url: 'https://example.org' })
      if ('wrong' in result) throw invalidBody(result.wrong)
      const { events, filters: given = {} } = result.body
      const { filters = {} } = await judge({ events, filters: given })
      return jsonAnswer({ status: 'success', ...(await backTest({ events, filters }, asker)) })
    },
    { isPart: true },
  )
}

async function create(
  { book, box, judge, board }: Options,
  { account, caller, header, readBody }: OwnRequest,
  view: (webhook: Webhook, more: object) => object,
): Promise<Answer> {
  const key = readIdempotencyKey(header('idempotency-key'))
  const sent = await readBody()
  const body = await judgedForm('create', sent, judge)
  const repeat = key === undefined ? undefined : { key, creation: creationOf(key, sent) }
  const { seal, open } = await box()
  const answer = (webhook: Webhook, isRepeat: boolean): Answer => {
    // shown once: a repeat is the same creation, whose answer may never have arrived
    const secret = open(webhook.secrets.current, webhook.id)
    return jsonAnswer(view(webhook, { secret, armed_now: isArmed(webhook, board) }), {
      status: 201,
      headers: {
        location: `/v1/webhooks/${webhook.id}`,
        ...(isRepeat ? { 'idempotent-replayed': 'true' } : {}),
      },
    })
  }
  const repeated = repeat && (await book.findRepeat(account, repeat))
  if (repeated !== undefined) return answer(repeated, true)

  const { description, events } = body
  const { url = '', filters = {} } = await judge({ filters: {}, ...body })
  const secret = newSecret()
  const created = await book.create(
    account,
    (id) => {
      // otherwise the webhook would outlive an account that is deleted meanwhile
      caller?.checkAgain()
      return {
        url,
        ...(description === undefined ? {} : { description }),
        events,
        filters,
        active: true,
        paused: false,
        secrets: { current: seal(secret, id) },
      }
    },
    repeat,
  )
  return answer(created.webhook, created.isRepeat)
}

/**
 * The body, if none of its fields has a wrong form. Otherwise the other fields are judged all the
 * same, so that one answer names everything that is wrong. @throws ApiError 400
 */
async function judgedForm<Kind extends 'create' | 'patch'>(
  kind: Kind,
  sent: unknown,
  judge: JudgeWanted,
): Promise<WebhookBodies[Kind]> {
  const result = checkWebhookBody(kind, sent)
  if ('body' in result) return result.body
  await judge(wellFormed(sent, result.wrong), result.wrong)
  throw invalidBody(result.wrong)
}

/** The body, if no field of it is wrong; no body counts as an empty one. @throws ApiError 400 */
function checked<Kind extends keyof WebhookBodies>(kind: Kind, sent: unknown): WebhookBodies[Kind] {
  const result = checkWebhookBody(kind, sent)
  if ('wrong' in result) throw invalidBody(result.wrong)
  return result.body
}

/** @returns as UTC @throws ApiError 400 */
function sinceOf(text: string, nowMs: number): string {
  const timeMs = instantIn(text)
  if (timeMs !== undefined && timeMs <= nowMs) return formatIsoMs(timeMs)
  const expected = 'an ISO 8601 time of the past, for example 2026-01-31T08:00:00Z'
  throw invalidBody([wrongField('since', text, expected)])
}
