/**
 * The steps of a request: well-formed → a file, or a route and method → the session → was it sent
 * by one of our own pages → the answer. Everything that goes wrong ends in one sentence.
 */
import { randomUUID } from 'node:crypto'
import Koa, { type Context } from 'koa'
import { longestTarget, targetFault } from '../../core/access/request-target.ts'
import { Router } from '../../runtime/http/router.ts'
import type { Logger } from '../../runtime/log.ts'
import { MailFull } from '../../runtime/nats/mail-queue.ts'
import { failureLog } from '../../runtime/process/failure-log.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import type { Site, SiteState } from '../frame.ts'
import { readCookie } from './cookies.ts'
import { writeRefusal } from './error-answer.ts'
import type { ServeView } from './places/views.ts'
import { away, Refusal } from './refusal.ts'
import { checkCsrf, checkOrigin } from './request-guard.ts'
import type { DashboardRoute, Session } from './route.ts'
import { securityHeaders } from './security-headers.ts'
import { readSentBody } from './sent-body.ts'
import type { Sessions } from './sessions.ts'
import type { WebFiles } from './web-files.ts'

/** Called for every request when its answer is on the way. */
export type Observe = (seen: {
  readonly route: string
  readonly status: number
  readonly ms: number
}) => void

type Options = {
  readonly routes: readonly DashboardRoute[]
  /** Paths of the browser's own views: the shell is served there. */
  readonly views: readonly string[]
  readonly serveView: ServeView
  readonly files: WebFiles
  readonly sessions: Pick<Sessions, 'findOrLook'>
  readonly publicUrl: string
  /** Another server's, for the map. */
  readonly tilesUrl?: string | undefined
  readonly site: Site
  readonly log: Logger
  readonly observe: Observe
}

export function createApp(options: Options): Koa {
  const { routes, views, serveView, files, sessions, publicUrl, site, log, observe } = options
  const app = new Koa()
  const router = new Router({ strict: true })
  const headers = securityHeaders(publicUrl, options.tilesUrl)
  const viewHeaders = securityHeaders(publicUrl, options.tilesUrl, files.styleHash)
  const logFailed = failureLog(log)

  const sessionOf = async (ctx: Context): Promise<Session | undefined> => {
    const token = readCookie(ctx.req, 'session')
    return token === undefined ? undefined : await sessions.findOrLook(token)
  }

  const serve = async (ctx: Context, methods: readonly DashboardRoute[]): Promise<void> => {
    const route = routeFor(methods, ctx.method)
    const session = await sessionOf(ctx)
    if (route.method !== 'GET') {
      checkOrigin(ctx, publicUrl)
      // who may not do it does not have much read
      if (route.longestBody !== undefined && route.needs !== 'none')
        needSession(ctx, session, route.needs)
      await readSentBody(ctx, route.longestBody)
      checkCsrf(ctx, session)
    }
    ctx.set('cache-control', 'no-store')
    const answer = await (route.needs === 'none'
      ? route.handle(ctx, session)
      : route.handle(ctx, needSession(ctx, session, route.needs)))
    if (answer !== undefined && ctx.body === undefined) ctx.body = answer
  }

  for (const [path, methods] of Map.groupBy(routes, (route) => route.path))
    router.all(path, (ctx) => {
      setRoute(ctx, path)
      return serve(ctx, methods)
    })
  for (const path of views)
    router.get(path, async (ctx) => {
      setRoute(ctx, path)
      ctx.set(viewHeaders)
      await serveView(ctx, path)
    })

  router.get('/settings', (ctx) => {
    setRoute(ctx, '/settings')
    ctx.redirect('/settings/keys')
  })

  app.use(async (ctx, next) => {
    const requestId = randomUUID()
    const startedMs = performance.now()
    ctx.set({ ...headers, 'x-request-id': requestId })
    setRoute(ctx, 'none')
    setSite(ctx, site)
    try {
      checkUrl(ctx.req.url ?? '')
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
      if (!isRead || !files.serve(ctx, ctx.path)) {
        await next()
        if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) throw noPage()
      } else setRoute(ctx, 'file')
    } catch (thrown) {
      const refusal = toRefusal(thrown)
      const { status } = refusal
      // a client that disconnected is not a failure
      if (status >= 500 && !ctx.res.closed)
        logFailed({ requestId, route: routeOf(ctx), err: thrown })
      if (!ctx.headerSent && ctx.respond !== false) {
        // without NATS the page is written all the same, as for a visitor
        const session = await sessionOf(ctx).catch(() => undefined)
        writeRefusal(ctx, refusal, { id: requestId, session })
      }
    }
    observe({ route: routeOf(ctx), status: ctx.status, ms: performance.now() - startedMs })
  })
  app.use(router.routes())
  // our own failures are logged above; the rest are sockets that clients gave up
  app.on('error', () => undefined)
  return app
}

type State = SiteState & { route: string }

const setRoute = (ctx: Context, route: string): void => {
  const state: State = ctx.state
  state.route = route
}
const setSite = (ctx: Context, site: Site): void => {
  const state: State = ctx.state
  state.site = site
}
const routeOf = (ctx: Context): string => (ctx.state as State).route

function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown
  if (thrown instanceof MailFull)
    return away(
      'mail_full',
      'too many emails wait to be sent, so this one was not queued: try again in some minutes',
      thrown,
    )
  if (isServerAway(thrown)) return away('nats_away', 'this cannot be done right now', thrown)
  return new Refusal(500, 'internal', 'something went wrong on our side', { cause: thrown })
}

/** @throws Refusal 400, 414 */
function checkUrl(url: string): void {
  switch (targetFault(url)) {
    case 'too_long':
      throw new Refusal(414, 'url_too_long', `an address has at most ${longestTarget} characters`)
    case 'bad_characters':
      throw new Refusal(400, 'bad_encoding', 'the address is not percent-encoded UTF-8')
    case undefined:
  }
}

const noPage = (): Refusal => new Refusal(404, 'not_found', 'there is nothing at this address')

/** @throws Refusal 405 */
function routeFor(routes: readonly DashboardRoute[], requested: string): DashboardRoute {
  const wanted = requested === 'HEAD' ? 'GET' : requested
  const route = routes.find(({ method }) => method === wanted)
  if (route !== undefined) return route
  const allowed = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  throw new Refusal(405, 'method_not_allowed', `${requested} is not possible here`, {
    headers: { allow: allowed.join(', ') },
  })
}

/** @throws Refusal 401, 403 */
function needSession(
  ctx: Context,
  session: Session | undefined,
  needs: 'session' | 'operator',
): Session {
  if (session === undefined)
    throw new Refusal(401, 'not_signed_in', 'sign in first', { details: { next: ctx.path } })
  if (needs === 'operator' && session.account.role !== 'operator')
    throw new Refusal(403, 'not_operator', 'this is only for operators')
  return session
}
