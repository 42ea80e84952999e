/**
 * The way of a request: is it well-formed → is there such a route and method → who asks → what is
 * wanted → the answer. Everything that goes wrong on it ends in one envelope.
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

/** Told of every request when its answer is on the way. */
export type Observe = (seen: {
  readonly route: string
  readonly status: number
  readonly requestId: string
  /** Of a failure that is ours. */
  readonly cause?: unknown
}) => void

type Options = {
  readonly routes: readonly Route[]
  /** Proxies of ours before us. */
  readonly proxies?: number
  readonly admit: Admit
  readonly observe: Observe
}

/** Answers kept; the largest are some 200 KB. */
const mostKept = 64
/** Characters of an address, its query included. */
export const longestUrl = 4_096

export function createApp({ routes, admit, observe, proxies = 0 }: Options): Koa {
  const app = new Koa()
  const inTurn = loopTurns()
  const unread = unreadAnswers()
  // routes without names in their path are found by a look-up; the router's patterns take the rest
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
    // charged before anything is done for whoever asks
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
    caller?.again()
    unread.refuseMore(share)
    const give = (answer: Answer): void => {
      const bytes = send(ctx, answer)
      unread.add(share, ctx.res, bytes)
    }
    const asked = route.typeOf && parseParams(queryOf(ctx), route.params)
    const type = (asked && route.typeOf?.(asked)) ?? agreedType(ctx, route.types)
    const { url = '' } = ctx.req
    const version = route.version?.()
    const known = version === undefined ? undefined : kept.get(url)
    if (known !== undefined && known.version === version && known.answer.type === type) {
      give(known.answer)
      return
    }
    const params = asked ?? parseParams(queryOf(ctx), route.params)
    const readBody = async (): Promise<unknown> => {
      const sent = await readJsonBody(ctx)
      if (sent !== undefined) caller?.again()
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

  const kept = new Map<string, { readonly version: number; readonly answer: Answer }>()
  const keepAnswer = (url: string, version: number, answer: Answer): void =>
    remember(kept, url, { version, answer }, mostKept)

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
  // failures of ours are told by `observe`; what is left are sockets that clients gave up
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
      const given = caller === undefined ? undefined : req.headers[networkHeader]
      const asking = typeof given === 'string' ? given.slice(0, longestNetwork) : network()
      return siteOf(asking) ?? asking
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
 * Whether the client has this answer already. Not Koa's `fresh`: that takes `Cache-Control: no-cache`
 * of a request, which Node's fetch adds to every If-None-Match, for a wish not to be answered so.
 */
const isSameAs = ({ req }: Context, etag: string): boolean =>
  (req.headers['if-none-match'] ?? '')
    .split(',')
    .some((given) => ['*', etag, `W/${etag}`].includes(given.trim()))

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

/** @throws ApiError 414, or 400 where the address is not what an address may be made of */
function checkUrl(url: string): void {
  if (url.length > longestUrl) {
    throw new ApiError(414, 'url_too_long', `an address has at most ${longestUrl} characters`)
  }
  if (!plain.test(url)) {
    throw new ApiError(400, 'bad_encoding', 'percent-encode whatever is not printable ASCII')
  }
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  if (path.includes('%')) decodeText(path, 'the path')
}

const noRoute = (): ApiError =>
  new ApiError(404, 'not_found', 'there is nothing here; /v1/docs lists what there is')

/** @throws ApiError 405 */
function routeFor(methods: readonly Route[], asked: string): Route {
  const wanted = asked === 'HEAD' ? 'GET' : asked
  const found = methods.find(({ method = 'GET' }) => method === wanted)
  if (found !== undefined) return found
  const allowed = methods.flatMap(({ method = 'GET' }) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  )
  throw new ApiError(405, 'method_not_allowed', `${asked} is not possible here`, {
    details: { allowed },
    headers: { allow: allowed.join(', ') },
  })
}

/** @throws ApiError 406 */
function agreedType(ctx: Context, types: readonly string[]): string {
  const [usual = ''] = types
  const { accept } = ctx.req.headers
  if (accept === undefined || accept === '*/*' || accept === usual) return usual
  // whoever wants errors as problem details takes the usual answer where there is none
  const agreed = ctx.accepts(...types) || (accept.includes('application/problem+json') && usual)
  if (agreed) return agreed
  throw new ApiError(406, 'not_acceptable', `this can be had as ${types.join(', ')}`, {
    details: { available: types },
  })
}

/**
 * A client may say more of a type than we know of ours, such as `; charset=utf-8`: that changes
 * nothing of what it is sent. Only a weight (`q`) counts.
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
 * Straight to the socket: Koa's own way looks at the body again to find out what it is.
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
  // gone while it was let in: its `close`, which gives places back, is over
  if (ctx.res.closed) return 0
  ctx.res.flushHeaders()
  follow(ctx.res)
  return 0
}
