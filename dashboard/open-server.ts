/** The dashboard's server: every answer is counted. */

import { longestTarget } from '../core/access/request-target.ts'
import { usualConnections } from '../runtime/http/connection-bounds.ts'
import { type HttpServer, startHttpServer } from '../runtime/http/http-server.ts'
import type { Logger } from '../runtime/log.ts'
import type { Registry } from '../runtime/prometheus.ts'
import type { DashboardConfig } from './config.ts'
import type { Site } from './frame.ts'
import { createApp } from './server/app.ts'
import { countRequests } from './server/metrics.ts'
import type { ServeView } from './server/places/views.ts'
import type { DashboardRoute } from './server/route.ts'
import type { Sessions } from './server/sessions.ts'
import type { WebFiles } from './server/web-files.ts'

type Options = {
  readonly settings: DashboardConfig
  readonly site: Site
  readonly files: WebFiles
  readonly sessions: Sessions
  readonly routes: readonly DashboardRoute[]
  readonly serveView: ServeView
  readonly metrics: Registry
  readonly log: Logger
}

/** @throws MustAct the port is taken */
export async function openServer(
  { settings, metrics, ...options }: Options,
  opened: AsyncDisposableStack,
): Promise<HttpServer> {
  const { publicUrl } = settings
  const tilesUrl = settings.map.tiles
  const observe = countRequests(metrics)
  const app = createApp({ ...options, views, publicUrl, tilesUrl, observe })
  const handle = app.callback()
  return opened.use(
    await startHttpServer({
      host: settings.host,
      port: settings.port,
      setting: 'AIRPROOF_DASHBOARD_PORT',
      // a browser opens up to six, and one address may be a school or a carrier's customers
      connections: { ...usualConnections, fromPublic: 2_000 },
      longestUrl: longestTarget,
      brokenBody: ({ code, message }) =>
        Buffer.from(JSON.stringify({ status: 'error', error: { code, message } })),
      listener: (request, response) => void handle(request, response),
    }),
  )
}

/** The paths of the browser's pages: the same as in `dashboard/web/routes.ts`. */
export const views: readonly string[] = [
  '/',
  '/areas/:slug',
  '/sensors/:id',
  '/proof',
  '/proof/:id/:timestamp',
  '/developers',
  '/settings/keys',
  '/settings/usage',
  '/settings/webhooks',
  '/settings/webhooks/:id',
  '/settings/account',
  '/operator',
]
