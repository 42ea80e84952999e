import type { Context } from 'koa'
import { BodyFault, type BodyFaultWhy, bodyReader, hasBody } from '../../runtime/http/read-body.ts'
import { Refusal } from './refusal.ts'

declare module 'koa' {
  interface Request {
    /** What was sent, once `readSentBody` has read it. */
    body?: unknown
  }
}

/** Bytes of a body. */
export const longestBody = 64 * 1024

const readerOf = (longestBytes: number) =>
  bodyReader({ longestBytes, json: ['application/json'], form: true })
/** By the bytes they read: few lengths are in use. */
const readers = new Map([[longestBody, readerOf(longestBody)]])

/**
 * Reads what was sent into `ctx.request.body`: JSON, or the fields of a form.
 * @throws Refusal 400, 413, 415
 */
export async function readSentBody(ctx: Context, longest = longestBody): Promise<void> {
  if (!hasBody(ctx)) return
  const [type = ''] = (ctx.req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (!['application/json', 'application/x-www-form-urlencoded'].includes(type.trim()))
    throw new Refusal(415, 'unsupported_media_type', 'send a form or JSON')
  const readBody = readers.get(longest) ?? readerOf(longest)
  readers.set(longest, readBody)
  ctx.request.body = await readBody(ctx).catch((error: unknown) => {
    throw error instanceof BodyFault ? refusals[error.why](longest) : error
  })
}

const refusals: Readonly<Record<BodyFaultWhy, (longest: number) => Refusal>> = {
  encoded: () =>
    new Refusal(415, 'unsupported_media_type', 'send the body without a Content-Encoding'),
  too_long: (longest) =>
    new Refusal(413, 'body_too_large', `a body has at most ${longest} bytes here`),
  malformed: () => new Refusal(400, 'bad_body', 'the body cannot be read'),
  broken_off: () => new Refusal(400, 'bad_body', 'the body broke off'),
}

/** A field of a form; empty where it is missing or not text. */
export function sentText(ctx: Context, name: string): string {
  const body: unknown = ctx.request.body
  if (typeof body !== 'object' || body === null) return ''
  const value = Object.entries(body).find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : ''
}
