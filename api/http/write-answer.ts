/** Writes answers directly to the socket: Koa's own way inspects a body again to learn what it is. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Context } from 'koa'
import type { Digest } from '../../runtime/hashes/digest.ts'
import type { Answer } from './answer.ts'
import { type Agreed, type Coding, codingFor, isPacked, packedAs } from './coding.ts'

type Sending = {
  readonly accepted: Agreed
  /** The address has several media types, and `Accept` decides. */
  readonly isTyped: boolean
  /**
   * Who may keep the answer: any cache, only the client's own, or none, as the pages behind
   * `/data/v1`, which are read in browsers that people share.
   */
  readonly keeps: 'any' | 'own' | 'none'
  readonly digest: Digest
  /** Of every answer to this request. */
  readonly headers: Readonly<Record<string, string>>
}

/** @returns bytes of the body that are on the way */
export function writeAnswer(ctx: Context, answer: Answer, sending: Sending): number {
  const { type, body, status = 200, follow } = answer
  const { res, req } = ctx
  const isHead = req.method === 'HEAD'
  const isRead = isHead || req.method === 'GET'
  // answers to what changes something may hold a secret beside what the client sent: never packed
  const coding = isRead ? codingFor(type, body.length, sending.accepted) : undefined
  const mayRepeat = isRead && status === 200 && follow === undefined && !answer.isOnce
  const tag =
    answer.tag ??
    (mayRepeat && sending.keeps !== 'none' ? tagOf(answer, coding, sending.digest) : undefined)
  const isKnown = tag !== undefined && isSameAs(ctx, tag)
  ctx.respond = false
  // the server has answered 503 for us, or the client has gone
  if (res.headersSent) return 0
  const head = headOf(answer, tag, sending)
  if (isRead && isPacked(type)) head.vary = varyOf(sending)
  if (isKnown) {
    res.writeHead(304, head).end()
    return 0
  }
  head['content-type'] = type
  if (coding !== undefined) head['content-encoding'] = coding
  if (follow === undefined) {
    // nobody reads the body of a HEAD: it is not compressed only to learn its length
    const sent = coding === undefined || isHead ? body : packedAs(coding, answer)
    if (coding === undefined || !isHead) head['content-length'] = sent.length
    res.writeHead(status, head).end(isHead ? undefined : sent)
    return isHead ? 0 : sent.length
  }
  res.writeHead(status, head)
  if (isHead) {
    res.end()
    return 0
  }
  // the client left while it was admitted: its `close`, which frees its places, has passed already
  if (res.closed) return 0
  res.flushHeaders()
  follow(res)
  return 0
}

function headOf(
  answer: Answer,
  tag: string | undefined,
  { keeps, headers }: Sending,
): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = { ...headers, ...answer.headers }
  const links = [answer.headers?.['link'], headers['link']].filter((one) => one !== undefined)
  if (links.length > 0) head.link = links.join(', ')
  if (tag === undefined) {
    head['cache-control'] = 'no-store'
    return head
  }
  head.etag = tag
  if (answer.tag === undefined) head['cache-control'] = cacheControl(answer, keeps)
  return head
}

const varyOf = ({ isTyped, keeps }: Sending): string =>
  `${isTyped ? 'Accept, ' : ''}Accept-Encoding${keeps === 'own' ? ', Authorization' : ''}`

/** An answer that is kept for a while, or for a moment: always true, as the client asks again after it. */
const cacheControl = ({ freshSeconds = 0 }: Answer, keeps: Sending['keeps']): string =>
  `${keeps === 'own' ? 'private, ' : ''}${freshSeconds > 0 ? `max-age=${freshSeconds}` : 'no-cache'}`

/** Of bodies that are kept: a weak entry for each of the others costs more than their digest. */
const digests = new WeakMap<Buffer, string>()

/**
 * The bytes, their media type and their coding, and nothing else: the same in every process, and
 * other at the next format, shape, index or coding.
 */
function tagOf(
  { type, body, isKept = false }: Answer,
  coding: Coding | undefined,
  digest: Digest,
): string {
  let known = isKept ? digests.get(body) : undefined
  known ??= digest(body)
  if (isKept) digests.set(body, known)
  return `"${known}-${mediaIn(type)}${coding === undefined ? '' : `-${coding}`}"`
}

/** `text/html; charset=utf-8` → `html`. */
function mediaIn(type: string): string {
  const end = type.indexOf(';')
  const media = type.slice(type.indexOf('/') + 1, end === -1 ? type.length : end)
  return media.startsWith('x-') ? media.slice(2) : media
}

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
