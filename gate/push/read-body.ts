import type { Context } from 'koa'
import { BodyFault, bodyReader } from '../../runtime/http/read-body.ts'
import { maxRawBytes } from '../../schemas/log/raw-reading.ts'
import { PushError } from './push-error.ts'

const readText = bodyReader({ longestBytes: maxRawBytes, text: true })

/** @throws PushError 413 its announced length is too long */
export function refuseLong({ req }: Context): void {
  if (Number(req.headers['content-length'] ?? 0) > maxRawBytes) throw tooLarge()
}

/**
 * The JSON that was sent, whatever its content type: firmware and scripts use many for JSON.
 * @throws PushError 400, 413, 415
 */
export async function readJson(
  ctx: Context,
): Promise<{ readonly body: unknown; readonly text: string; readonly bytes: number }> {
  const { headers } = ctx.req
  if (/^multipart\//i.test(headers['content-type'] ?? ''))
    throw new PushError(415, 'unsupported_media_type', 'send the body as application/json')
  headers['content-type'] = 'text/plain'
  const text = await readText(ctx).catch((error: unknown) => {
    throw error instanceof BodyFault ? toPushError(error) : error
  })
  if (typeof text !== 'string' || text.trim() === '')
    throw new PushError(400, 'not_json', 'the body is empty: send JSON')
  try {
    return { body: JSON.parse(text), text, bytes: Buffer.byteLength(text) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 200) : ''
    throw new PushError(400, 'not_json', `the body is not JSON: ${reason}`, { cause })
  }
}

function toPushError({ why, cause }: BodyFault): PushError {
  switch (why) {
    case 'encoded':
      return new PushError(
        415,
        'unsupported_media_type',
        'send the body without a Content-Encoding',
      )
    case 'too_long':
      return tooLarge()
    case 'malformed':
    case 'broken_off':
      return new PushError(400, 'not_json', 'the body cannot be read', { cause })
  }
}

const tooLarge = (): PushError =>
  new PushError(413, 'body_too_large', `a body has at most ${maxRawBytes} bytes`, {
    details: { longest_bytes: maxRawBytes },
    // the unread rest would be taken for the connection's next request
    headers: { connection: 'close' },
  })
