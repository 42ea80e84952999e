import type { Attempt } from '../../schemas/webhooks/attempt.ts'
import type { Answer } from './send.ts'

/** Of the headers in an attempt, as JSON: those after it are only counted. */
const headersBytes = 4 * 1_024
/** Of the body, as JSON text: what has more, because most of it must be escaped, is kept as base64. */
const textBytes = 12 * 1_024

/**
 * A receiver's answer as an attempt holds it: at most 16 KiB and a little, whatever the receiver sent, so
 * that 5,000 attempts of a webhook have a bound in bytes.
 */
export function describeAnswer({
  status,
  headers,
  body,
  isTruncated,
}: Answer): NonNullable<Attempt['response']> {
  const bytes = Buffer.from(body)
  const text = bytes.toString()
  const isText =
    Buffer.from(text).equals(bytes) || (isTruncated && !text.slice(0, -1).includes('\uFFFD'))
  const isShort = jsonBytes(text) <= textBytes
  return {
    status,
    headers: firstHeaders(headers),
    body: isText && isShort ? text : bytes.toString('base64'),
    body_encoding: isText && isShort ? 'utf8' : 'base64',
    truncated: isTruncated,
  }
}

function firstHeaders(headers: Answer['headers']): [string, string][] {
  const kept: [string, string][] = []
  let bytes = 0
  for (const [name, value] of headers) {
    bytes += jsonBytes([name, value]) + 1
    if (bytes > headersBytes) return [...kept, ['…', `${headers.length - kept.length} more`]]
    kept.push([name, value])
  }
  return kept
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
