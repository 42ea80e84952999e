/**
 * The steps of a request: is it well-formed → do the route and method exist → who is the caller →
 * what is requested → the answer. Every error on the way ends in one envelope.
 */
import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { siteOf } from '../core/access/network-of.ts'
import { remember } from '../core/remember.ts'
import { clientNetwork } from '../runtime/http/client-network.ts'
import { networkHeader } from './access/key-guard.ts'
import { type Admit, type Admitted, isRefunded } from './admit.ts'
import type { Answer, Asker, Caller, Route } from './http/answer.ts'
import { ApiError, clientGone } from './http/api-error.ts'
import { toApiError, writeError } from './http/error-answer.ts'
import { readJsonBody } from './http/json-body.ts'
import { loopTurns } from './http/loop-turns.ts'
import { decodeText, parseParams } from './http/params.ts'
import { unreadAnswers } from './http/unread-answers.ts'

/** Called for every request when its answer is on the way. */
export type Observe = (seen: {
  readonly route: string
  readonly status: number
  readonly requestId: string
  /** Set if the failure is ours. */
  readonly cause?: unknown
}) => void

type Options = {
  readonly routes: readonly Route[]
  /** Our own proxies in front of us. */
  readonly proxies?: number
  readonly admit: Admit
  readonly observe: Observe
}

/** Answers stored; the largest are about 600 KB: 1,000 sensors with their latest readings. */
const mostKept = 64
/** Characters of an address, its query included. */
export const longestUrl = 4_096

export function createApp({ routes, admit, observe, proxies = 0 }: Options): Koa {
  const app = new Koa()
  const inTurn = loopTurns()
  const unread = unreadAnswers()
  // routes without names in their path are found by a look-up; the router's patterns match the
  // others
  const fixed = new Map<string, readonly Route[]>()
  const router = new Router({ strict: true })
  for (const [path, methods] of Map.groupBy(routes, (route) => route.path)) {
    if (!path.includes(':')) {
      fixed.set(path, methods)
      continue
    }
    router.all(path, (ctx) => {
      const names: Readonly<Record<string, string>> = ctx['params']
      return serve(ctx, methods, names)
    })
  }
  const patterns = router.routes()

  const serve = async (
    ctx: Context,
    methods: readonly Route[],
    names: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const state: RequestState = ctx.state
    state.route = methods[0]?.path ?? state.route
    const route = routeFor(methods, ctx.method)
    const { headers } = ctx.req
    // charged before any work is done for the caller
    const ask = route.isUncharged ? 'look' : 'request'
    const admitted = route.isOpen ? undefined : await admit(headers, ask)
    state.admitted = admitted
    const caller = admitted?.caller
    const network = (): string => clientNetwork(ctx.req, proxies)
    const asker = askerOf(ctx, caller, network)
    const share = asker.share()
    await inTurn(share)
    if (ctx.res.closed) throw clientGone()
    // the key may have been revoked while it waited for its charge and its turn
    caller?.checkAgain()
    unread.refuseMore(share)
    const give = (answer: Answer): void => {
      const bytes = send(ctx, answer)
      unread.add(share, ctx.res, bytes)
    }
    const parsed = route.typeOf && parseParams(queryOf(ctx), route.params)
    const types = (parsed && route.typesOf?.(parsed)) ?? route.types
    const type = (parsed && route.typeOf?.(parsed)) ?? agreedType(ctx, types)
    const { url = '' } = ctx.req
    const version = route.version?.()
    const known = version === undefined ? undefined : stored.get(url)
    if (known !== undefined && known.version === version && known.answer.type === type) {
      give(known.answer)
      return
    }
    const params = parsed ?? parseParams(queryOf(ctx), route.params)
    const readBody = async (): Promise<unknown> => {
      const sent = await readJsonBody(ctx)
      if (sent !== undefined) caller?.checkAgain()
      return sent
    }
    const header = (name: string): string | undefined => headers[name]?.toString()
    const answering = route.answer({
      names,
      params,
      type,
      caller,
      asker,
      network,
      header,
      readBody,
    })
    const answer = answering instanceof Promise ? await answering : answering
    if (version !== undefined) keepAnswer(url, version, answer)
    give(answer)
  }

  const stored = new Map<string, { readonly version: number; readonly answer: Answer }>()
  const keepAnswer = (url: string, version: number, answer: Answer): void =>
    remember(stored, url, { version, answer }, mostKept)

  app.use(async (ctx, next) => {
    const state: RequestState = ctx.state
    state.requestId = randomUUID()
    state.route = 'none'
    const { accept } = ctx.req.headers
    if (accept?.includes(';')) ctx.req.headers.accept = withoutParameters(accept)
    try {
      checkUrl(ctx.req.url ?? '')
      const methods = fixed.get(pathOf(ctx))
      if (methods !== undefined) await serve(ctx, methods, noNames)
      else await next()
      if (!ctx.headerSent && ctx.respond !== false) throw noRoute()
      const { statusCode: status } = ctx.res
      if (isRefunded(status)) state.admitted?.refund()
      observe({ route: state.route, status, requestId: state.requestId })
    } catch (thrown) {
      const error = toApiError(thrown)
      const { requestId, route } = state
      if (isRefunded(error.status)) state.admitted?.refund()
      if (!ctx.headerSent) writeError(ctx, error, requestId, state.admitted?.headers)
      const cause = error.status >= 500 ? thrown : undefined
      observe({ route, requestId, status: error.status, cause })
    }
  })
  app.use(patterns)
  // our own failures are reported by `observe`; the others are sockets that clients closed
  app.on('error', () => undefined)
  return app
}

function askerOf({ req, res }: Context, caller: Caller | undefined, network: () => string): Asker {
  const isVisitor = caller?.isVisitor ?? true
  let gone: AbortController | undefined
  return {
    isVisitor,
    share: () => {
      if (caller !== undefined && !isVisitor) return caller.account
      const sent = caller === undefined ? undefined : req.headers[networkHeader]
      const visitor = typeof sent === 'string' ? sent.slice(0, longestNetwork) : network()
      return siteOf(visitor) ?? visitor
    },
    gone: () => {
      if (gone !== undefined) return gone.signal
      const going = new AbortController()
      gone = going
      if (res.closed) going.abort()
      else res.once('close', () => going.abort())
      return going.signal
    },
  }
}

const longestNetwork = 64
/**
 * Whether the client has this answer already. Not Koa's `fresh`: that honours `Cache-Control:
 * no-cache` of a request, which Node's fetch adds to every If-None-Match, as a wish for a full
 * answer.
 */
const isSameAs = ({ req }: Context, etag: string): boolean =>
  (req.headers['if-none-match'] ?? '')
    .split(',')
    .some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))

type RequestState = { requestId: string; route: string; admitted?: Admitted | undefined }

const noNames = {}

const pathOf = ({ req: { url = '' } }: Context): string => {
  const mark = url.indexOf('?')
  return mark === -1 ? url : url.slice(0, mark)
}
const queryOf = ({ req: { url = '' } }: Context): string => {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

const plain = /^[\x21-\x7e]*$/

/** @throws ApiError 414, or 400 if the address has characters that an address may not have */
function checkUrl(url: string): void {
  if (url.length > longestUrl) {
    throw new ApiError(414, 'url_too_long', `an address has at most ${longestUrl} characters`)
  }
  if (!plain.test(url)) {
    throw new ApiError(
      400,
      'bad_encoding',
      'percent-encode every character that is not printable ASCII',
    )
  }
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  if (path.includes('%')) decodeText(path, 'the path')
}

const noRoute = (): ApiError =>
  new ApiError(404, 'not_found', 'there is nothing here; /v1/docs lists what there is')

/** @throws ApiError 405 */
function routeFor(methods: readonly Route[], requested: string): Route {
  const wanted = requested === 'HEAD' ? 'GET' : requested
  const match = methods.find(({ method = 'GET' }) => method === wanted)
  if (match !== undefined) return match
  const allowed = methods.flatMap(({ method = 'GET' }) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  )
  throw new ApiError(405, 'method_not_allowed', `${requested} is not allowed here`, {
    details: { allowed },
    headers: { allow: allowed.join(', ') },
  })
}

/** @throws ApiError 406 */
function agreedType(ctx: Context, types: readonly string[]): string {
  const [usual = ''] = types
  const { accept } = ctx.req.headers
  if (accept === undefined || accept === '*/*' || accept === usual) return usual
  // a client that accepts errors as problem details gets the usual answer otherwise
  const agreed = ctx.accepts(...types) || (accept.includes('application/problem+json') && usual)
  if (agreed) return agreed
  throw new ApiError(406, 'not_acceptable', `this is available as ${types.join(', ')}`, {
    details: { available: types },
  })
}

/**
 * A client may add parameters to a media type, such as `; charset=utf-8`: they do not change what
 * it is sent. Only a weight (`q`) counts.
 */
const withoutParameters = (accept: string): string =>
  accept
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';')
      const weight = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter))
      return weight === undefined ? type : `${type};${weight}`
    })
    .join(',')

/**
 * Writes directly to the socket: Koa's own way inspects the body again to find out what it is.
 * @returns bytes of the body that are on the way
 */
function send(ctx: Context, answer: Answer): number {
  const { type, body, headers = {}, etag, follow } = answer
  const isKnown = etag !== undefined && isSameAs(ctx, etag)
  ctx.respond = false
  // the server has answered 503 for us, or the client has gone
  if (ctx.res.headersSent) return 0
  ctx.res.writeHead(isKnown ? 304 : (answer.status ?? 200), {
    ...(isKnown ? {} : { 'content-type': type }),
    ...(follow === undefined && !isKnown ? { 'content-length': body.length } : {}),
    ...(etag === undefined
      ? { 'cache-control': 'no-store' }
      : { 'cache-control': 'no-cache', etag }),
    ...(ctx.state as RequestState).admitted?.headers,
    ...headers,
    'x-request-id': (ctx.state as RequestState).requestId,
  })
  if (isKnown) {
    ctx.res.end()
    return 0
  }
  if (follow === undefined || ctx.method === 'HEAD') {
    ctx.res.end(ctx.method === 'HEAD' ? undefined : body)
    return ctx.method === 'HEAD' ? 0 : body.length
  }
  // the client left while it was admitted: its `close`, which frees its places, has passed already
  if (ctx.res.closed) return 0
  ctx.res.flushHeaders()
  follow(ctx.res)
  return 0
}
