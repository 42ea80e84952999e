import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { codeOf } from '../../runtime/exit.ts'
import { Refusal } from './refusal.ts'

/** Bytes of a body. */
export const longestBody = 64 * 1024

const parse = koaBody({
  jsonLimit: longestBody,
  formLimit: longestBody,
  text: false,
  multipart: false,
})

/**
 * Reads what was sent into `ctx.request.body`: JSON, or the fields of a form.
 * @throws Refusal 400, 413, 415
 */
export async function readSentBody(ctx: Context): Promise<void> {
  const { headers } = ctx.req
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length ?? '0') === '0') return
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (!['application/json', 'application/x-www-form-urlencoded'].includes(type.trim()))
    throw new Refusal(415, 'unsupported_media_type', 'send a form or JSON')
  if (headers['content-encoding'] !== undefined)
    throw new Refusal(415, 'unsupported_media_type', 'send the body without a Content-Encoding')
  if (Number(length ?? 0) > longestBody) throw tooLong()
  try {
    await parse(ctx, async () => undefined)
  } catch (thrown) {
    // what was not read yet would stand before the next request of the connection
    ctx.req.resume()
    const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined
    if (status === 413) throw tooLong()
    if (status === 400 || thrown instanceof SyntaxError)
      throw new Refusal(400, 'bad_body', 'the body cannot be read')
    if (codeOf(thrown) === 'ECONNRESET') throw new Refusal(400, 'bad_body', 'the body broke off')
    throw thrown
  }
}

const tooLong = (): Refusal =>
  new Refusal(413, 'body_too_large', `a body has at most ${longestBody} bytes`)

/** A field of a form: what is missing, or no text, is empty. */
export function sentText(ctx: Context, name: string): string {
  const body: unknown = ctx.request.body
  if (typeof body !== 'object' || body === null) return ''
  const value = Object.entries(body).find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : ''
}
