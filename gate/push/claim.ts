import type { Context } from 'koa'
import { PushError } from './push-error.ts'

/** The id and secret of a request, not checked yet. */
export type Claim = { readonly id: string; readonly secret: string }

/** The rest of the path after the endpoint, `<id>/<secret>`, decoded; may be empty. */
type PathRest = readonly string[]

/**
 * Header before path before query: Basic (user = id), Bearer (`<id>:<secret>`), and for firmware
 * that can set no header `/push/…/<id>/<secret>` or `?id=…&key=…`.
 * @throws PushError 401
 */
export function readClaim(ctx: Context, rest: PathRest): Claim {
  const { authorization } = ctx.req.headers
  if (authorization !== undefined && authorization !== '') return fromHeader(authorization)
  const [id, secret] = rest
  if (id !== undefined && secret !== undefined) return { id, secret }
  const query = new URLSearchParams(ctx.querystring)
  const [queryId, key] = [query.get('id'), query.get('key')]
  if (queryId !== null && key !== null) return { id: queryId, secret: key }
  throw unauthorized('missing_credential', 'send the id as user and the secret as password (Basic)')
}

function fromHeader(authorization: string): Claim {
  const [, scheme = '', given = ''] = /^(basic|bearer) +(\S+) *$/i.exec(authorization) ?? []
  const text = /^basic$/i.test(scheme) ? Buffer.from(given, 'base64').toString() : given
  const colon = text.indexOf(':')
  if (colon > 0) return { id: text.slice(0, colon), secret: text.slice(colon + 1) }
  throw unauthorized(
    'malformed_credential',
    'Authorization must be Basic with the id as user, or "Bearer <id>:<secret>"',
  )
}

/** The code names the reason; the message never reveals whether the id is known. */
export const unauthorized = (code: string, message: string): PushError =>
  new PushError(401, code, message, {
    headers: { 'www-authenticate': 'Basic realm="airproof", charset="UTF-8"' },
  })
