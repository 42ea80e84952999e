/** The one reader of request bodies. The server decides the response to a fault. */
import type { Context } from 'koa'
import rawBody from 'raw-body'
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

/** The methods whose body is read; another one's is ignored. */
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Reads a body of one of the kinds; undefined for any other. Throws BodyFault. */
export function bodyReader({
  longestBytes,
  json = [],
  form = false,
  text = false,
}: Options): (ctx: Context) => Promise<unknown> {
  const parserOf = (ctx: Context): ((text: string) => unknown) | undefined => {
    if (!methodsWithBody.has(ctx.method)) return undefined
    if (json.length > 0 && ctx.is([...json])) return parseJson
    if (form && ctx.is('urlencoded')) return parseForm
    return text && ctx.is('text/*') ? (whole) => whole : undefined
  }
  return async (ctx) => {
    const { headers } = ctx.req
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') throw new BodyFault('encoded')
    const length = headers['content-length'] ?? null
    if (Number(length) > longestBytes) throw new BodyFault('too_long')
    const parse = parserOf(ctx)
    if (parse === undefined) return undefined
    try {
      return parse(await rawBody(ctx.req, { length, limit: longestBytes, encoding: 'utf8' }))
    } catch (thrown) {
      // the unread rest would otherwise be parsed as the connection's next request
      ctx.req.resume()
      const why = whyOf(thrown)
      throw why === undefined ? thrown : new BodyFault(why, thrown)
    }
  }
}

/**
 * An object or an array; of no text at all, an empty object. A key `__proto__` is refused: assigned to
 * another object, it would change what that object inherits.
 */
function parseJson(text: string): unknown {
  if (text === '') return {}
  if (!/^[ \t\n\r]*[[{]/.test(text)) throw new SyntaxError('it is not an object or an array')
  return JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') throw new SyntaxError('it has a key __proto__')
    return value
  })
}

/** The fields by name; a name that is sent more than once has a list. */
function parseForm(text: string): Readonly<Record<string, string | readonly string[]>> {
  const fields = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(fields.keys())].map((name) => {
      const values = fields.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
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
