/**
 * The steps of a push: is there such an endpoint → check the credential → check the rate → read the
 * body → make it durable → answer. Addresses may hold secrets, so none is ever logged.
 */
import { randomUUID } from 'node:crypto'
import Koa, { type Context } from 'koa'
import type { CredentialVerdict } from '../credential-book.ts'
import type { InputGuard } from '../input-guard.ts'
import type { SeenBook } from '../seen-book.ts'
import type { Accept } from './accept.ts'
import { type Claim, readClaim, unauthorized } from './claim.ts'
import type { Endpoint, PushRequest } from './endpoint.ts'
import { explanation } from './explain.ts'
import type { FloodGuard } from './flood.ts'
import { errorBody, PushError, toPushError } from './push-error.ts'
import type { Observe } from './push-metrics.ts'
import { readBody, refuseLong } from './read-body.ts'

type Options = {
  readonly endpoints: readonly Endpoint[]
  /** Whether a claim of a sensor, or of an application, is true. */
  readonly check: (caller: Endpoint['caller'], claim: Claim) => CredentialVerdict
  /** Of sensors, and of applications, which send for many sensors, and much that is not a reading. */
  readonly floods: Readonly<Record<Endpoint['caller'], FloodGuard>>
  readonly accept: Accept
  readonly observe: Observe
  /** Where a refused contact of a sensor is noted. */
  readonly seen?: Pick<SeenBook, 'refused'> | undefined
  readonly failed: InputGuard['failed']
}

/** Characters of an address, its query included. */
export const longestUrl = 2_048

type Outcome = { readonly outcome: string; readonly readings: number }

export function createPushApp({
  endpoints,
  check,
  floods,
  accept,
  observe,
  seen,
  failed,
}: Options): Koa {
  const known = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]))
  const app = new Koa()

  const admit = (endpoint: Endpoint, claim: Claim): void => {
    const verdict = check(endpoint.caller, claim)
    if (verdict === 'ok') return
    if (endpoint.caller === 'sensor' && verdict !== 'unknown') seen?.refused(claim.id, verdict)
    // wrong, expired and revoked ones get the same sentence; the code tells them apart
    throw unauthorized(`${verdict}_credential`, 'the credential is wrong, or is no longer good')
  }
  const push = async (ctx: Context, endpoint: Endpoint, rest: readonly string[]) => {
    const claim = readClaim(ctx, rest)
    admit(endpoint, claim)
    const flood = floods[endpoint.caller]
    // before it is counted: waiting does not help a body that is too long
    refuseLong(ctx, endpoint.body)
    flood(claim.id, announcedBytes(ctx))
    const { bytes, ...sent } = await readBody(ctx, endpoint.body)
    // its length was not announced
    if (bytes > announcedBytes(ctx)) flood(claim.id, bytes)
    // it may have been revoked while the body trickled in
    admit(endpoint, claim)
    const { body, ...accepted } = await accept(
      endpoint,
      requestOf(ctx, claim, sent),
      contactOf(ctx),
    )
    send(ctx, 202, body)
    return accepted
  }
  const serve = async (ctx: Context): Promise<Outcome & { readonly endpoint: string }> => {
    const { name, rest } = placeOf(ctx)
    if (name === '') return { endpoint: 'none', outcome: explain(ctx), readings: 0 }
    const endpoint = known.get(name)
    if (endpoint === undefined || rest.length > 2) throw noEndpoint()
    try {
      if (ctx.method !== 'POST') throw wrongMethod(ctx.method, 'POST')
      return { endpoint: name, ...(await push(ctx, endpoint, rest)) }
    } catch (thrown) {
      return { endpoint: name, outcome: fail(ctx, thrown), readings: 0 }
    }
  }
  const fail = (ctx: Context, thrown: unknown): string => {
    const requestId = randomUUID()
    const error = toPushError(thrown)
    // a client that hung up in mid-request is not a failure of ours
    if (error.code === 'internal' && !ctx.req.destroyed) failed('push', thrown, { requestId })
    const { status, headers } = error
    write(ctx, status, errorBody(error, requestId), { ...headers, 'x-request-id': requestId })
    return error.code
  }

  app.use(async (ctx) => {
    const startedMs = performance.now()
    const answered = await serve(ctx).catch((thrown: unknown) => ({
      endpoint: 'none',
      outcome: fail(ctx, thrown),
      readings: 0,
    }))
    observe({ ...answered, ms: performance.now() - startedMs })
  })
  // our own failures are logged above; the rest are sockets that clients gave up
  app.on('error', () => undefined)
  return app
}

/** 0 where it is not announced: the body is then counted after it was read. */
const announcedBytes = ({ req }: Context): number => Number(req.headers['content-length'] ?? 0) || 0

function requestOf(
  ctx: Context,
  { id }: Claim,
  sent: Pick<PushRequest, 'body' | 'text'>,
): PushRequest {
  const query = new URLSearchParams(ctx.querystring)
  return {
    caller: id,
    ...sent,
    header: (name) => ctx.get(name) || undefined,
    query: (name) => query.get(name) ?? undefined,
  }
}

const contactOf = ({ req }: Context) => ({
  protocol: 'http' as const,
  address: req.socket.remoteAddress ?? '',
  client: req.headers['user-agent']?.slice(0, 80),
})

type Place = {
  /** '' for `/push` itself. */
  readonly name: string
  readonly rest: readonly string[]
}

/** @throws PushError 400, 404, 414 */
function placeOf({ req: { url = '' } }: Context): Place {
  if (url.length > longestUrl)
    throw new PushError(414, 'url_too_long', `an address has at most ${longestUrl} characters`)
  const [path = ''] = url.split('?', 1)
  const [empty, push, name = '', ...rest] = path.split('/')
  if (empty !== '' || push !== 'push') throw noEndpoint()
  // firmware and people add a slash to the end
  if (rest.at(-1) === '') rest.pop()
  try {
    return { name, rest: rest.map(decodeURIComponent) }
  } catch (cause) {
    throw new PushError(400, 'bad_encoding', 'the path is not percent-encoded UTF-8', { cause })
  }
}

function explain(ctx: Context): string {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw wrongMethod(ctx.method, 'GET, HEAD')
  write(ctx, 200, Buffer.from(explanation), { 'content-type': 'text/plain; charset=utf-8' })
  return 'explained'
}

const noEndpoint = (): PushError =>
  new PushError(404, 'not_found', 'there is nothing here; GET /push lists what there is')

const wrongMethod = (method: string, allow: string): PushError =>
  new PushError(405, 'method_not_allowed', `${method} is not possible here`, { headers: { allow } })

const send = (ctx: Context, status: number, value: unknown): void =>
  write(ctx, status, Buffer.from(JSON.stringify(value)), {})

/** Straight to the socket: Koa would inspect the body again to find its type. */
function write(
  ctx: Context,
  status: number,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  ctx.respond = false
  if (ctx.res.headersSent || ctx.res.destroyed) return
  ctx.res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...headers,
  })
  ctx.res.end(ctx.method === 'HEAD' ? undefined : body)
}
