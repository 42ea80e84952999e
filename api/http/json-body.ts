import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { jsonType } from './answer.ts'
import { ApiError } from './api-error.ts'

/** Bytes of a body. */
export const longestBody = 64 * 1024

const mergePatchType = 'application/merge-patch+json'

const parse = koaBody({
  jsonLimit: longestBody,
  jsonTypes: [jsonType, mergePatchType],
  text: false,
  urlencoded: false,
  multipart: false,
})

/**
 * The body of a request, which is JSON or nothing else.
 * @returns undefined where the request has none
 * @throws ApiError 400, 413, 415
 */
export async function readJsonBody(ctx: Context): Promise<unknown> {
  const { headers } = ctx.req
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length ?? '0') === '0') return undefined
  const types = ctx.method === 'PATCH' ? [jsonType, mergePatchType] : [jsonType]
  if (!types.some((type) => isSentAs(type, headers['content-type']))) {
    const wanted = `send the body as Content-Type: ${types.join(' or ')}`
    throw wrongType(wanted, headers['content-type'])
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw wrongType('send the body without a Content-Encoding', encoding)
  }
  if (Number(length ?? 0) > longestBody) throw tooLong()
  try {
    await parse(ctx, noMore)
  } catch (thrown) {
    // what was not read yet would stand before the next request of the connection
    ctx.req.resume()
    throw inOurWords(thrown)
  }
  return ctx.request.body
}

const noMore = async (): Promise<void> => undefined

/** JSON has one encoding, so a charset may only say so. */
const isSentAs = (type: string, sent = ''): boolean => {
  const [media = '', ...parameters] = sent.toLowerCase().split(';')
  return (
    media.trim() === type &&
    parameters.every((parameter) => /^ *charset *= *"?utf-8"? *$/.test(parameter))
  )
}

const wrongType = (message: string, given = ''): ApiError =>
  new ApiError(415, 'unsupported_media_type', message, { details: { given: given.slice(0, 100) } })

const tooLong = (): ApiError =>
  new ApiError(413, 'body_too_large', `a body has at most ${longestBody} bytes`, {
    details: { longest_bytes: longestBody },
  })

function inOurWords(thrown: unknown): unknown {
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined
  if (status === 413) return tooLong()
  if (status !== 400) return thrown
  return new ApiError(400, 'not_json', 'the body is not a JSON object', { cause: thrown })
}
