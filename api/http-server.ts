import {
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
} from '../runtime/http/http-server.ts'
import { longestUrl } from './app.ts'
import { ApiError } from './http/api-error.ts'
import { corsHeaders } from './http/cors.ts'
import { errorBody } from './http/error-answer.ts'

type Options = Pick<HttpServerOptions, 'host' | 'port' | 'listener' | 'limits' | 'connections'>

/** Bytes that are not a request get our error envelope too. @throws MustAct the port is taken */
export const openHttpServer = (options: Options): Promise<HttpServer> =>
  startHttpServer({
    ...options,
    setting: 'AIRPROOF_API_PORT',
    longestUrl,
    brokenBody: ({ status, code, message }, requestId) =>
      errorBody(new ApiError(status, code, message), requestId, false),
    brokenHeaders: corsHeaders,
  })
