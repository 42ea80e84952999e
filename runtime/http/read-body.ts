/** The one reader of request bodies. The server decides the response to a fault. */
import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { codeOf } from '../exit.ts'

export type BodyFaultWhy =
  /** It has a Content-Encoding: a small compressed body may be huge when unpacked. */
  | 'encoded'
  | 'too_long'
  /** It does not match its content type. */
  | 'malformed'
  /** The connection ended before the body did. */
  | 'broken_off'

export class BodyFault extends Error {
  readonly why: BodyFaultWhy

  constructor(why: BodyFaultWhy, cause?: unknown) {
    super(`the body is ${why}`, cause === undefined ? {} : { cause })
    this.why = why
  }
}

type Options = {
  readonly longestBytes: number
  /** The types that are read as JSON, an object or an array. */
  readonly json?: readonly string[]
  /** Whether the fields of a form are read. */
  readonly form?: boolean
  /** Whether `text/*` is read, unparsed. */
  readonly text?: boolean
}

/** Reads a body of one of the kinds; undefined for any other. Throws BodyFault. */
export function bodyReader({
  longestBytes,
  json = [],
  form = false,
  text = false,
}: Options): (ctx: Context) => Promise<unknown> {
  const parse = koaBody({
    json: json.length > 0,
    jsonTypes: [...json],
    jsonLimit: longestBytes,
    urlencoded: form,
    formLimit: longestBytes,
    text,
    textLimit: longestBytes,
    multipart: false,
  })
  return async (ctx) => {
    const { headers } = ctx.req
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') throw new BodyFault('encoded')
    if (Number(headers['content-length'] ?? 0) > longestBytes) throw new BodyFault('too_long')
    try {
      await parse(ctx, async () => undefined)
    } catch (thrown) {
      // the unread rest would otherwise be parsed as the connection's next request
      ctx.req.resume()
      const why = whyOf(thrown)
      throw why === undefined ? thrown : new BodyFault(why, thrown)
    }
    return ctx.request.body
  }
}

/** Whether a request announces a body. */
export const hasBody = ({ req: { headers } }: Context): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

function whyOf(thrown: unknown): BodyFaultWhy | undefined {
  if (codeOf(thrown) === 'ECONNRESET') return 'broken_off'
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined
  if (status === 413) return 'too_long'
  return status === 400 || thrown instanceof SyntaxError ? 'malformed' : undefined
}
