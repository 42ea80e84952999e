/**
 * `/data/v1/…` is the API for our own pages. What the map shows is open to anyone, within a limit
 * for each network; usage and webhooks are answered for the account that is signed in. Nothing that
 * the client claims about itself is forwarded: the API receives our key, and an account or the
 * network of a visitor, so that turns are fair.
 */
import type { Context } from 'koa'
import type { Dispatcher, request } from 'undici'
import { minuteMs, secondMs } from '../../core/time.ts'
import { clientNetwork } from '../../runtime/http/client-network.ts'
import { packedStream } from './packed-stream.ts'
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
  /** Streams at once of one network without a session. */
  readonly openStreams?: number
  /** The same of one account. */
  readonly accountStreams?: number
  /** Aborted when the process stops: streams have no end of their own. */
  readonly stop: AbortSignal
}

const open = [
  '/v1/sensors',
  '/v1/sensors/:id/status',
  '/v1/sensors/:id/statistics',
  '/v1/readings',
  '/v1/readings/:id/verify',
  '/v1/readings/:id/proof',
  '/v1/areas',
  '/v1/areas/:name',
  '/v1/areas/:name/statistics',
  '/v1/aqi/scale',
]
const ofAnAccount = ['/v1/usage', '/v1/webhooks', '/v1/webhooks/{*rest}']

/** The API answers 503 by itself after 25 s. */
const answerWithinMs = 30 * secondMs

export function dataProxy(options: Options): readonly DashboardRoute[] {
  const { proxies, clockMs, openPerMinute = 6_000, accountPerMinute = 600, stop } = options
  const { openStreams = 250, accountStreams = 10 } = options
  const perMinute = (count: number) => ({
    limit: { perSecond: (count * secondMs) / minuteMs, burst: count / 5 },
    clockMs,
  })
  const byNetwork = rateBy({ ...perMinute(openPerMinute), siteFactor: 3 })
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
      const most = session === undefined ? openStreams : accountStreams
      if (running >= most)
        throw new Refusal(429, 'too_many_streams', `at most ${most} streams at once`, {
          headers: { 'retry-after': '30' },
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
  'content-encoding',
  'vary',
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
const requestHeaders = [
  'accept',
  'accept-encoding',
  'if-none-match',
  'last-event-id',
  'idempotency-key',
]

async function forward(
  ctx: Context,
  { apiUrl, key, proxies }: Options,
  { session, signal }: Sending,
): Promise<void> {
  const headers: Record<string, string> = { authorization: `Bearer ${key()}` }
  for (const name of requestHeaders) if (ctx.get(name) !== '') headers[name] = ctx.get(name)
  if (session === undefined) headers['airproof-network'] = clientNetwork(ctx.req, proxies)
  else headers['airproof-account'] = session.account.id
  const sent: unknown = ctx.request.body
  const isSending = ctx.method !== 'GET' && ctx.method !== 'HEAD' && sent !== undefined
  if (isSending) headers['content-type'] = 'application/json'
  // the target byte for byte, so that both parse the same: see core/access/request-target.ts
  const url = `${apiUrl}${(ctx.req.url ?? '').slice('/data'.length)}`
  const answer = await askApi(url, {
    // only these methods have routes
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    method: ctx.method as Dispatcher.HttpMethod,
    headers,
    signal,
    ...(isSending ? { body: JSON.stringify(sent) } : {}),
  })
  // our key has not reached the API yet, or the API has lost its connection to NATS
  if (answer.statusCode === 401) {
    answer.body.destroy()
    throw away('api_away', 'the API does not know us yet')
  }
  ctx.status = answer.statusCode
  for (const name of answerHeaders) {
    const value = answer.headers[name]
    if (value !== undefined) ctx.set(name, value)
  }
  if (ctx.method === 'HEAD') {
    answer.body.destroy()
    ctx.body = null
    ctx.status = answer.statusCode
    return
  }
  const packed = packedStream(ctx)
  // not as Koa's body: its listeners and ours together are more than Node takes without a warning
  ctx.respond = false
  // the client disconnected, the API broke off, or we stop: the answer ends where it is
  answer.body.on('error', () => ctx.res.destroy())
  if (packed === undefined) answer.body.pipe(ctx.res)
  else answer.body.pipe(packed).pipe(ctx.res)
}

type Asking = NonNullable<Parameters<typeof request>[1]>

/** As it came: fetch would unpack what the API has packed. */
async function askApi(url: string, init: Asking): Promise<Dispatcher.ResponseData<unknown>> {
  // 100 ms of loading, which the first question to the API waits for and no start does
  const { request } = await import('undici')
  try {
    return await request(url, init)
  } catch (cause) {
    throw away('api_away', 'the API does not answer right now', cause)
  }
}
