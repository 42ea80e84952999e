/** The one reader of request bodies. What a fault means to the caller is the business of who answers. */
import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { codeOf } from '../exit.ts'

export type BodyFaultWhy =
  /** It has a Content-Encoding: what is small when sent may be large when unpacked. */
  | 'encoded'
  | 'too_long'
  /** It is not what its type says. */
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
  /** Whether `text/*` is read, as it is. */
  readonly text?: boolean
}

/** Reads a body of one of the kinds; of any other it gives undefined. Throws BodyFault. */
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
      // what was not read yet would be in front of the next request of the connection
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
