import {
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
} from '../runtime/http/http-server.ts'
import { ApiError } from './api-error.ts'
import { longestUrl } from './app.ts'
import { errorBody } from './error-answer.ts'

type Options = Pick<HttpServerOptions, 'host' | 'port' | 'listener' | 'limits' | 'connections'>

/** What never became a request is answered in our envelope too. @throws MustAct the port is taken */
export const openHttpServer = (options: Options): Promise<HttpServer> =>
  startHttpServer({
    ...options,
    setting: 'AIRPROOF_API_PORT',
    longestUrl,
    brokenBody: ({ status, code, message }, requestId) =>
      errorBody(new ApiError(status, code, message), requestId, false),
  })
