/** Routes for the scripts of our pages: JSON in, JSON out, like `/v1`. */
import type { Context } from 'koa'
import { MustAct, TryAgain, WrongUsage } from '../../../runtime/exit.ts'
import { isServerAway } from '../../../runtime/server-away.ts'
import { away, Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'

type RouteRequest = {
  readonly session: Session
  /** Of the path. */
  readonly names: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** {} where none was sent. */
  readonly body: Readonly<Record<string, unknown>>
  readonly ctx: Context
}

type Options = {
  readonly method: DashboardRoute['method']
  readonly path: string
  readonly needs: 'session' | 'operator'
  readonly longestBody?: number
  /** HTTP status of a success. */
  readonly status?: number
  /** Its result is in the answer beside `"status": "success"`. */
  readonly answer: (request: RouteRequest) => Promise<object>
}

export const jsonRoute = ({
  method,
  path,
  needs,
  status = 200,
  longestBody,
  answer,
}: Options): DashboardRoute => ({
  ...(longestBody !== undefined && { longestBody }),
  method,
  path,
  needs,
  handle: async (ctx, session) => {
    ctx.set('cache-control', 'no-store')
    try {
      const query = new URLSearchParams(ctx.querystring)
      const made = await answer({ session, names: namesOf(ctx), query, body: bodyOf(ctx), ctx })
      ctx.status = status
      ctx.body = { status: 'success', ...made }
    } catch (error) {
      throw refusalOf(error)
    }
  },
})

const namesOf = ({ params }: Context): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(Object(params)).map(([name, value]) => [name, String(value)]))

/** @throws Refusal 400 */
function bodyOf(ctx: Context): Readonly<Record<string, unknown>> {
  const body: unknown = ctx.request.body ?? {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw wrongFields([{ field: 'body', expected: 'a JSON object' }])
}

type WrongField = { readonly field: string; readonly expected: string }

/** Names the fields that are wrong, each with what would be right. */
export const wrongFields = (fields: readonly WrongField[]): Refusal =>
  new Refusal(
    400,
    'invalid_body',
    fields.map(({ field, expected }) => `${field} must be ${expected}`).join('; '),
    { details: { fields } },
  )

/** Expected errors as refusals; the rest as it is, for the app to log. */
function refusalOf(error: unknown): unknown {
  if (error instanceof WrongUsage) return new Refusal(400, 'invalid_body', error.message)
  if (error instanceof MustAct) return new Refusal(409, 'conflict', error.message)
  if (error instanceof TryAgain) return away('try_again', error.message, error)
  if (isServerAway(error)) return away('unavailable', 'this cannot be read right now', error)
  return error
}
