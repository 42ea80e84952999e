import type { Context } from 'koa'
import { BodyFault, bodyReader } from '../../runtime/http/read-body.ts'
import { maxRawBytes } from '../../schemas/log/raw-reading.ts'
import { PushError } from './push-error.ts'

/** How an endpoint takes a body. */
export type BodyForm = {
  readonly longestBytes: number
  readonly readText: (ctx: Context) => Promise<unknown>
  /** @throws SyntaxError */
  readonly parse: (text: string) => unknown
}

export const bodyForm = (longestBytes: number, parse: BodyForm['parse']): BodyForm => ({
  longestBytes,
  readText: bodyReader({ longestBytes, text: true }),
  parse,
})

/** One JSON text, no longer than one raw message. */
export const oneJson = bodyForm(maxRawBytes, (text) => JSON.parse(text) as unknown)

/** @throws PushError 413 its announced length is too long */
export function refuseLong({ req }: Context, { longestBytes }: BodyForm): void {
  if (Number(req.headers['content-length'] ?? 0) > longestBytes) throw tooLarge(longestBytes)
}

/**
 * What was sent, whatever its content type: firmware and scripts use many for JSON.
 * @throws PushError 400, 413, 415
 */
export async function readBody(
  ctx: Context,
  { longestBytes, readText, parse }: BodyForm,
): Promise<{ readonly body: unknown; readonly text: string; readonly bytes: number }> {
  const { headers } = ctx.req
  if (/^multipart\//i.test(headers['content-type'] ?? ''))
    throw new PushError(415, 'unsupported_media_type', 'send the body as application/json')
  headers['content-type'] = 'text/plain'
  const text = await readText(ctx).catch((error: unknown) => {
    throw error instanceof BodyFault ? toPushError(error, longestBytes) : error
  })
  const given = typeof text === 'string' ? text : ''
  return { body: parseBody(given, { parse }), text: given, bytes: Buffer.byteLength(given) }
}

/** @throws PushError 400 */
export function parseBody(text: string, { parse }: Pick<BodyForm, 'parse'>): unknown {
  if (text.trim() === '') throw new PushError(400, 'not_json', 'the body is empty: send JSON')
  try {
    return parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 200) : ''
    throw new PushError(400, 'not_json', `the body is not JSON: ${reason}`, { cause })
  }
}

function toPushError({ why, cause }: BodyFault, longestBytes: number): PushError {
  switch (why) {
    case 'encoded':
      return new PushError(
        415,
        'unsupported_media_type',
        'send the body without a Content-Encoding',
      )
    case 'too_long':
      return tooLarge(longestBytes)
    case 'malformed':
    case 'broken_off':
      return new PushError(400, 'not_json', 'the body cannot be read', { cause })
  }
}

const tooLarge = (longestBytes: number): PushError =>
  new PushError(413, 'body_too_large', `a body has at most ${longestBytes} bytes`, {
    details: { longest_bytes: longestBytes },
    // the unread rest would be taken for the connection's next request
    headers: { connection: 'close' },
  })
