/** The server of `/v1`: every answer is counted, and each of our own failures is logged. */

import { createDigest } from '../runtime/hashes/digest.ts'
import {
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
} from '../runtime/http/http-server.ts'
import type { Logger } from '../runtime/log.ts'
import { failureLog } from '../runtime/process/failure-log.ts'
import type { Registry } from '../runtime/prometheus.ts'
import { countRequests } from './api-metrics.ts'
import { createApp, longestUrl } from './app.ts'
import type { ApiConfig } from './config.ts'
import type { Route } from './http/answer.ts'
import { ApiError } from './http/api-error.ts'
import { corsHeaders } from './http/cors.ts'
import { errorBody } from './http/error-answer.ts'
import type { Admission } from './open-admission.ts'
import type { Live } from './open-live.ts'
import { licences } from './sensors/licences.ts'

type Options = {
  readonly settings: ApiConfig
  readonly live: Live
  readonly admission: Admission
  readonly routes: readonly Route[]
  /** How many are open. */
  readonly streams: () => number
  readonly metrics: Registry
  readonly log: Logger
}

/** @throws MustAct the port is taken */
export async function openServer(
  { settings, live, admission, routes, streams, metrics, log }: Options,
  opened: AsyncDisposableStack,
): Promise<HttpServer> {
  const { host, port, proxies, preflights, network } = settings
  const count = countRequests({
    registry: metrics,
    position: live.picture.position,
    staleMs: admission.staleMs,
    streams,
    sensors: () => live.board.counts().byStatus(),
  })
  const logFailure = failureLog(log)
  const app = createApp({
    proxies,
    preflights,
    admit: admission.admit,
    note: admission.note,
    routes,
    digest: await createDigest(),
    licenceOf: licences(live, network.licence),
    observe: (seen) => {
      count(seen)
      const { cause, ...answer } = seen
      if (cause !== undefined) logFailure({ ...answer, err: cause })
    },
  })
  const handle = app.callback()
  const listener: HttpOptions['listener'] = (request, response) => void handle(request, response)
  return opened.use(await openHttpServer({ host, port, listener }))
}

type HttpOptions = Pick<HttpServerOptions, 'host' | 'port' | 'listener' | 'limits' | 'connections'>

/** Bytes that are not a request get our error envelope too. @throws MustAct the port is taken */
export const openHttpServer = (options: HttpOptions): Promise<HttpServer> =>
  startHttpServer({
    ...options,
    setting: 'AIRPROOF_API_PORT',
    longestUrl,
    brokenBody: ({ status, code, message }, requestId) =>
      errorBody(new ApiError(status, code, message), requestId, false),
    brokenHeaders: corsHeaders,
  })
