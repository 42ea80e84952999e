import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { maxRawBytes } from '../../schemas/log/raw-reading.ts'
import { PushError } from './push-error.ts'

const readText = koaBody({
  text: true,
  textLimit: maxRawBytes,
  json: false,
  urlencoded: false,
  multipart: false,
})

/** @throws PushError 413 it says itself that it is too long */
export function refuseLong({ req }: Context): void {
  if (Number(req.headers['content-length'] ?? 0) > maxRawBytes) throw tooLarge()
}

/**
 * The JSON that was sent, whatever its type claims: firmware and scripts call JSON many things.
 * @throws PushError 400, 413, 415
 */
export async function readJson(
  ctx: Context,
): Promise<{ readonly body: unknown; readonly bytes: number }> {
  const { headers } = ctx.req
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new PushError(415, 'unsupported_media_type', 'send the body without a Content-Encoding')
  if (/^multipart\//i.test(headers['content-type'] ?? ''))
    throw new PushError(415, 'unsupported_media_type', 'send the body as application/json')
  headers['content-type'] = 'text/plain'
  try {
    await readText(ctx, noMore)
  } catch (thrown) {
    const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined
    throw status === 413 ? tooLarge() : thrown
  }
  const { body } = ctx.request
  if (typeof body !== 'string' || body.trim() === '')
    throw new PushError(400, 'not_json', 'the body is empty: send JSON')
  try {
    return { body: JSON.parse(body), bytes: Buffer.byteLength(body) }
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.slice(0, 200) : ''
    throw new PushError(400, 'not_json', `the body is not JSON: ${said}`, { cause })
  }
}

const noMore = async (): Promise<void> => undefined

const tooLarge = (): PushError =>
  new PushError(413, 'body_too_large', `a body has at most ${maxRawBytes} bytes`, {
    details: { longest_bytes: maxRawBytes },
    // what was not read yet would stand before the next request of the connection
    headers: { connection: 'close' },
  })
