/** Writes answers directly to the socket: Koa's own way inspects a body again to learn what it is. */
import type { Context } from 'koa'
import type { Answer } from './answer.ts'
import { type Agreed, type Coding, codingFor, isPacked, packedAs } from './coding.ts'

type Sending = {
  readonly accepted: Agreed
  /** The address has several media types, and `Accept` decides. */
  readonly isTyped: boolean
  /** Of every answer to this request. */
  readonly headers: Readonly<Record<string, string>>
}

/** @returns bytes of the body that are on the way */
export function writeAnswer(ctx: Context, answer: Answer, sending: Sending): number {
  const { type, body, status = 200, etag, follow } = answer
  const { res, method } = ctx
  const isRead = method === 'GET' || method === 'HEAD'
  // answers to what changes something may hold a secret beside what the client sent: never packed
  const coding = isRead ? codingFor(type, body.length, sending.accepted) : undefined
  const tag = etag === undefined ? undefined : tagOf(etag, coding)
  const isKnown = tag !== undefined && isSameAs(ctx, tag)
  ctx.respond = false
  // the server has answered 503 for us, or the client has gone
  if (res.headersSent) return 0
  const sent = isKnown || method === 'HEAD' || coding === undefined ? body : packedAs(coding, body)
  const isWhole = follow === undefined && !isKnown
  const vary = `${sending.isTyped ? 'Accept, ' : ''}Accept-Encoding`
  res.writeHead(isKnown ? 304 : status, {
    ...(isKnown ? {} : { 'content-type': type }),
    ...(isKnown || coding === undefined ? {} : { 'content-encoding': coding }),
    // a body that nobody reads is not compressed only to learn its length
    ...(isWhole && (coding === undefined || method !== 'HEAD')
      ? { 'content-length': sent.length }
      : {}),
    ...(tag === undefined
      ? { 'cache-control': 'no-store' }
      : { 'cache-control': 'no-cache', etag: tag }),
    ...(isRead && isPacked(type) ? { vary } : {}),
    ...sending.headers,
  })
  if (isKnown || method === 'HEAD') {
    res.end()
    return 0
  }
  if (follow === undefined) {
    res.end(sent)
    return sent.length
  }
  // the client left while it was admitted: its `close`, which frees its places, has passed already
  if (res.closed) return 0
  res.flushHeaders()
  follow(res)
  return 0
}

/** Compressed bytes are another representation, so they have a tag of their own. */
const tagOf = (etag: string, coding: Coding | undefined): string =>
  coding === undefined ? etag : `${etag.slice(0, -1)}-${coding}"`

/**
 * Whether the client has this answer already. Not Koa's `fresh`: that honours `Cache-Control:
 * no-cache` of a request, which Node's fetch adds to every If-None-Match, as a wish for a full
 * answer.
 */
function isSameAs({ req: { headers } }: Context, tag: string): boolean {
  const sent = headers['if-none-match']
  if (sent === undefined) return false
  return sent.split(',').some((one) => ['*', tag, `W/${tag}`].includes(one.trim()))
}
