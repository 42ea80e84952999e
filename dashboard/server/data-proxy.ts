/**
 * `/data/v1/…` is the API for our own pages. What the map shows is open to anyone, within a limit
 * for each network; usage and webhooks are answered for the account that is signed in. Nothing that
 * the client claims about itself is forwarded: the API receives our key, and an account or the
 * network of a visitor, so that turns are fair.
 */
import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { minuteMs, secondMs } from '../../core/time.ts'
import { clientNetwork } from '../../runtime/http/client-network.ts'
import { rateBy } from './rate-by.ts'
import { away, Refusal } from './refusal.ts'
import type { DashboardRoute, Session } from './route.ts'

type Options = {
  readonly apiUrl: string
  readonly key: () => string
  /** Our own proxies in front of us. */
  readonly proxies: number
  readonly clockMs: () => number
  /** Of one network without a session. */
  readonly openPerMinute?: number
  /** Of one account, from any network: pages need less, and programs have `/v1` and its quota. */
  readonly accountPerMinute?: number
  /** Streams at once, of one network without a session, or of one account. */
  readonly mostStreams?: number
  /** Aborted when the process stops: streams have no end of their own. */
  readonly stop: AbortSignal
}

const open = [
  '/v1/sensors',
  '/v1/sensors/:id/status',
  '/v1/readings',
  '/v1/readings/:id/verify',
  '/v1/readings/:id/proof',
  '/v1/areas',
  '/v1/areas/:name',
  '/v1/aqi/scale',
]
const ofAnAccount = ['/v1/usage', '/v1/webhooks', '/v1/webhooks/{*rest}']

/** The API answers 503 by itself after 25 s. */
const answerWithinMs = 30 * secondMs

export function dataProxy(options: Options): readonly DashboardRoute[] {
  const { proxies, clockMs, openPerMinute = 300, accountPerMinute = 600, stop } = options
  const { mostStreams = 10 } = options
  const perMinute = (count: number) => ({
    limit: { perSecond: (count * secondMs) / minuteMs, burst: count / 5 },
    clockMs,
  })
  const byNetwork = rateBy({ ...perMinute(openPerMinute), siteFactor: 10 })
  const byAccount = rateBy(perMinute(accountPerMinute))
  const streams = new Map<string, number>()
  const take = (ctx: Context, session: Session | undefined): void =>
    session === undefined
      ? byNetwork.take(clientNetwork(ctx.req, proxies))
      : byAccount.take(session.account.id)
  const ask = async (ctx: Context, session: Session | undefined): Promise<void> => {
    take(ctx, session)
    const signal = AbortSignal.any([goneSignal(ctx), AbortSignal.timeout(answerWithinMs)])
    await forward(ctx, options, { session, signal })
  }

  const stream: DashboardRoute = {
    method: 'GET',
    path: '/data/v1/stream',
    needs: 'none',
    handle: async (ctx, session) => {
      // a signed-in account has places of its own, whatever its network uses
      const who = session?.account.id ?? clientNetwork(ctx.req, proxies)
      take(ctx, session)
      // disconnected while the session was looked up: its `close` event, which frees the place, is
      // past
      if (ctx.res.closed) return
      const running = streams.get(who) ?? 0
      if (running >= mostStreams)
        throw new Refusal(429, 'too_many_streams', `at most ${mostStreams} streams at once`, {
          headers: { 'retry-after': '10' },
        })
      streams.set(who, running + 1)
      const gone = goneSignal(ctx)
      ctx.res.once('close', () => {
        const left = (streams.get(who) ?? 1) - 1
        if (left > 0) streams.set(who, left)
        else streams.delete(who)
      })
      // the stream's keep-alives are rarer than the timeout of an ordinary answer
      ctx.req.socket.setTimeout(5 * minuteMs)
      await forward(ctx, options, { session, signal: AbortSignal.any([gone, stop]) })
    },
  }
  return [
    stream,
    ...open.map(
      (path): DashboardRoute => ({
        method: 'GET',
        path: `/data${path}`,
        needs: 'none',
        handle: ask,
      }),
    ),
    ...ofAnAccount.flatMap((path) =>
      (['GET', 'POST', 'PATCH', 'DELETE'] as const).map(
        (method): DashboardRoute => ({
          method,
          path: `/data${path}`,
          needs: 'session',
          handle: ask,
        }),
      ),
    ),
  ]
}

/** Aborted when the client has disconnected: the API then stops its work on the request. */
function goneSignal({ res }: Context): AbortSignal {
  const gone = new AbortController()
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

type Sending = { readonly session: Session | undefined; readonly signal: AbortSignal }

/** Of the answer; all others are between the API and us. */
const answerHeaders = [
  'content-type',
  'content-disposition',
  'cache-control',
  'etag',
  'link',
  'location',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'x-request-id',
]
/** Of the request; no others are forwarded. */
const requestHeaders = ['accept', 'if-none-match', 'last-event-id', 'idempotency-key']

async function forward(
  ctx: Context,
  { apiUrl, key, proxies }: Options,
  { session, signal }: Sending,
): Promise<void> {
  const headers = new Headers({ authorization: `Bearer ${key()}`, 'accept-encoding': 'identity' })
  for (const name of requestHeaders) if (ctx.get(name) !== '') headers.set(name, ctx.get(name))
  if (session === undefined) headers.set('airproof-network', clientNetwork(ctx.req, proxies))
  else headers.set('airproof-account', session.account.id)
  const sent: unknown = ctx.request.body
  const isSending = ctx.method !== 'GET' && ctx.method !== 'HEAD' && sent !== undefined
  if (isSending) headers.set('content-type', 'application/json')
  // the target byte for byte, so that both parse the same: see core/access/request-target.ts
  const url = `${apiUrl}${(ctx.req.url ?? '').slice('/data'.length)}`
  const answer = await askApi(url, {
    method: ctx.method,
    headers,
    signal,
    redirect: 'manual',
    ...(isSending ? { body: JSON.stringify(sent) } : {}),
  })
  // our key has not reached the API yet, or the API has lost its connection to NATS
  if (answer.status === 401) {
    await answer.body?.cancel()
    throw away('api_away', 'the API does not know us yet')
  }
  ctx.status = answer.status
  for (const name of answerHeaders) {
    const value = answer.headers.get(name)
    if (value !== null) ctx.set(name, value)
  }
  if (answer.body === null || ctx.method === 'HEAD') {
    await answer.body?.cancel()
    ctx.body = null
    ctx.status = answer.status
    return
  }
  const body = Readable.fromWeb(answer.body)
  // the client disconnected, the API broke off, or we stop: the answer ends where it is
  body.on('error', () => ctx.res.destroy())
  // not as Koa's body: its listeners and ours together are more than Node takes without a warning
  ctx.respond = false
  body.pipe(ctx.res)
}

async function askApi(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw away('api_away', 'the API does not answer right now', cause)
  }
}
