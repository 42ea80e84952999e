import type { Context } from 'koa'
import { BodyFault, bodyReader, hasBody } from '../../runtime/http/read-body.ts'
import { jsonType } from './answer.ts'
import { ApiError } from './api-error.ts'

/** Bytes of a body. */
export const longestBody = 64 * 1024

const mergePatchType = 'application/merge-patch+json'

const readBody = bodyReader({ longestBytes: longestBody, json: [jsonType, mergePatchType] })

/**
 * The body of a request, which must be JSON.
 * @returns undefined if the request has none
 * @throws ApiError 400, 413, 415
 */
export async function readJsonBody(ctx: Context): Promise<unknown> {
  if (!hasBody(ctx)) return undefined
  const { headers } = ctx.req
  const types = ctx.method === 'PATCH' ? [jsonType, mergePatchType] : [jsonType]
  if (!types.some((type) => isSentAs(type, headers['content-type']))) {
    const wanted = `send the body as Content-Type: ${types.join(' or ')}`
    throw wrongType(wanted, headers['content-type'])
  }
  try {
    return await readBody(ctx)
  } catch (thrown) {
    throw thrown instanceof BodyFault ? toApiError(thrown, headers['content-encoding']) : thrown
  }
}

/** JSON has one encoding, so a charset may only be UTF-8. */
const isSentAs = (type: string, sent = ''): boolean => {
  const [media = '', ...parameters] = sent.toLowerCase().split(';')
  return (
    media.trim() === type &&
    parameters.every((parameter) => /^ *charset *= *"?utf-8"? *$/.test(parameter))
  )
}

const wrongType = (message: string, given = ''): ApiError =>
  new ApiError(415, 'unsupported_media_type', message, { details: { given: given.slice(0, 100) } })

function toApiError({ why, cause }: BodyFault, encoding: string | undefined): unknown {
  switch (why) {
    case 'encoded':
      return wrongType('send the body without a Content-Encoding', encoding)
    case 'too_long':
      return new ApiError(413, 'body_too_large', `a body has at most ${longestBody} bytes`, {
        details: { longest_bytes: longestBody },
      })
    case 'malformed':
      return new ApiError(400, 'not_json', 'the body is not a JSON object', { cause })
    case 'broken_off':
      return cause
  }
}
