/**
 * The steps of a request: is it well-formed → do the route and method exist → who is the caller →
 * what is requested → the answer. Every error on the way ends in one envelope.
 */
import { randomUUID } from 'node:crypto'
import Koa, { type Context } from 'koa'
import { siteOf } from '../core/access/network-of.ts'
import type { RateLimit } from '../core/access/rate-limit.ts'
import { BoundedMap } from '../core/bounded-map.ts'
import type { Digest } from '../runtime/hashes/digest.ts'
import { clientNetwork } from '../runtime/http/client-network.ts'
import { Router } from '../runtime/http/router.ts'
import { endSpan, spanStart } from '../runtime/trace.ts'
import { networkHeader } from './access/key-guard.ts'
import { type Admit, type Admitted, isRefunded } from './admit.ts'
import type { Answer, Asker, Caller, Route } from './http/answer.ts'
import { ApiError, clientGone } from './http/api-error.ts'
import { codingFor, readCodings } from './http/coding.ts'
import { answerPreflight, corsHeaders, isForPages } from './http/cors.ts'
import { toApiError, writeError } from './http/error-answer.ts'
import { readJsonBody } from './http/json-body.ts'
import { type LicenceOf, licenceLink } from './http/licence-link.ts'
import { loopTurns } from './http/loop-turns.ts'
import { decodeText, parseParams } from './http/params.ts'
import { rateByNetwork } from './http/rate-by-network.ts'
import { unreadAnswers } from './http/unread-answers.ts'
import { writeAnswer } from './http/write-answer.ts'

/** Called for every request when its answer is on the way. */
export type Observe = (seen: {
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly requestId: string
  /** Set if the failure is ours. */
  readonly cause?: unknown
}) => void

/** Called for every request with a key, when its answer is on the way. */
export type NoteRequest = (seen: {
  readonly caller: Caller
  readonly method: string
  readonly url: string
  readonly status: number
  readonly code?: string | undefined
  readonly ms: number
  readonly isCharged: boolean
}) => void

type Options = {
  readonly routes: readonly Route[]
  /** Our own proxies in front of us. */
  readonly proxies?: number
  readonly admit: Admit
  readonly observe: Observe
  readonly note?: NoteRequest
  /** For the tags of answers. */
  readonly digest: Digest
  /** How often a network may ask whether a page may call. */
  readonly preflights?: RateLimit
  /** Of the data. */
  readonly licenceOf?: LicenceOf
}

/** A page that uses its account's minute at once asks as often. */
const usualPreflights: RateLimit = { perSecond: 10, burst: 600 }

/** Answers stored; the largest are about 600 KB: 1,000 sensors with their latest readings. */
const mostKept = 64
/** Characters of an address, its query included. */
export const longestUrl = 4_096

export function createApp({
  routes,
  admit,
  observe,
  note = () => undefined,
  digest,
  proxies = 0,
  preflights = usualPreflights,
  licenceOf = () => undefined,
}: Options): Koa {
  const app = new Koa()
  const boundPreflights = rateByNetwork({ limit: preflights, clockMs: () => performance.now() })
  const inTurn = loopTurns()
  const unread = unreadAnswers()
  // routes without names in their path are found by a look-up; the router's patterns match the
  // others
  const fixed = new Map<string, readonly Route[]>()
  const router = new Router({ strict: true })
  for (const [path, methods] of Map.groupBy(routes, (route) => route.path)) {
    if (!/[:*]/.test(path)) {
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
    const onCaller = (caller: Caller): void => {
      state.caller = caller
    }
    const asking = { token: tokenOf(ctx, route), onCaller }
    const admitted = route.isOpen ? undefined : await admit(headers, ask, asking)
    state.admitted = admitted
    state.isLook = ask === 'look'
    const caller = admitted?.caller
    const network = (): string => clientNetwork(ctx.req, proxies)
    const asker = askerOf(ctx, caller, network)
    const share = asker.share()
    await inTurn(share)
    if (ctx.res.closed) throw clientGone()
    // the key may have been revoked while it waited for its charge and its turn
    caller?.checkAgain()
    unread.refuseMore(share)
    const parsed = route.typeOf && parseParams(queryOf(ctx), route.params)
    const types = (parsed && route.typesOf?.(parsed)) ?? route.types
    const type = (parsed && route.typeOf?.(parsed)) ?? agreedType(ctx, types)
    const accepted = readCodings(headers['accept-encoding'])
    if ((route.method ?? 'GET') === 'GET') codingFor(type, 0, accepted)
    const isTyped = types.length > 1
    const keeps = caller === undefined ? 'any' : caller.isInternal ? 'none' : 'own'
    const give = (answer: Answer): void => {
      const inQuery = route.params.includes('sensor_id')
        ? new URLSearchParams(queryOf(ctx)).get('sensor_id')
        : null
      const sensor = names['sensor_id'] ?? inQuery ?? undefined
      const own = {
        ...state.cors,
        ...admitted?.headers,
        'x-request-id': state.requestId,
        ...licenceLink({ path: route.path, sensor }, licenceOf),
      }
      const bytes = writeAnswer(ctx, answer, { accepted, isTyped, keeps, digest, headers: own })
      unread.add(share, ctx.res, bytes)
    }
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
    if (version === undefined) give(answer)
    else give(keepAnswer(url, version, { ...answer, isKept: true }))
  }

  const stored = new BoundedMap<string, { readonly version: number; readonly answer: Answer }>(
    mostKept,
  )
  const keepAnswer = (url: string, version: number, answer: Answer): Answer => {
    stored.set(url, { version, answer })
    return answer
  }

  app.use(async (ctx, next) => {
    const state: RequestState = ctx.state
    state.requestId = randomUUID()
    state.route = 'none'
    const startedMs = performance.now()
    const spanStartMs = spanStart()
    const noteAnswer = (status: number, code?: string, cause?: unknown): void => {
      const { caller, admitted, isLook, route, requestId } = state
      const ms = performance.now() - startedMs
      observe({ route, status, ms, requestId, cause })
      endSpan('request', spanStartMs, () => ({
        attributes: {
          'http.request.method': ctx.method,
          'http.route': route,
          'http.response.status_code': status,
        },
        fault: status >= 500 ? (code ?? String(status)) : undefined,
      }))
      if (caller === undefined) return
      const isCharged = admitted !== undefined && isLook !== true && !isRefunded(status)
      const { method, req } = ctx
      note({ caller, method, url: req.url ?? '', status, code, ms, isCharged })
    }
    const { accept } = ctx.req.headers
    if (accept?.includes(';')) ctx.req.headers.accept = withoutParameters(accept)
    try {
      const path = pathOf(ctx)
      if (isForPages(path)) state.cors = corsHeaders
      checkUrl(ctx.req.url ?? '')
      if (ctx.method === 'OPTIONS' && state.cors !== undefined) {
        state.route = 'preflight'
        boundPreflights(clientNetwork(ctx.req, proxies))
        answerPreflight(ctx, state.requestId)
        noteAnswer(204)
        return
      }
      const methods = fixed.get(path)
      if (methods !== undefined) await serve(ctx, methods, noNames)
      else await next()
      if (!ctx.headerSent && ctx.respond !== false) throw noRoute()
      const { statusCode: status } = ctx.res
      if (isRefunded(status)) state.admitted?.refund()
      noteAnswer(status)
    } catch (thrown) {
      const error = toApiError(thrown)
      if (isRefunded(error.status)) state.admitted?.refund()
      if (!ctx.headerSent)
        writeError(ctx, error, state.requestId, { ...state.cors, ...state.admitted?.headers })
      noteAnswer(error.status, error.code, error.status >= 500 ? thrown : undefined)
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
type RequestState = {
  requestId: string
  route: string
  /** Known before it is admitted. */
  caller?: Caller
  admitted?: Admitted | undefined
  /** It does not count towards the account's day. */
  isLook?: boolean
  /** Set if pages of other origins may read the answer. */
  cors?: typeof corsHeaders
}

const noNames = {}

const pathOf = ({ req: { url = '' } }: Context): string => {
  const mark = url.indexOf('?')
  return mark === -1 ? url : url.slice(0, mark)
}
const queryOf = ({ req: { url = '' } }: Context): string => {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

/** Of a request that sends no key: read before the other parameters, as nothing is done for a stranger. */
const tokenOf = (ctx: Context, { takesToken }: Route): string | undefined =>
  takesToken === true && ctx.req.headers.authorization === undefined
    ? (new URLSearchParams(queryOf(ctx)).get('token') ?? undefined)
    : undefined

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
