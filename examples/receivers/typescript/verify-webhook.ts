/** Checks that a delivery came from the service. Node's standard library only; copy this file. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export type Verdict =
  | { readonly ok: true; readonly id: string }
  | {
      readonly ok: false
      readonly reason: 'missing_header' | 'bad_timestamp' | 'stale' | 'wrong_signature'
    }

export type Delivery = {
  readonly headers: IncomingHttpHeaders
  /** The bytes as they came: parsed and written again they are other bytes. */
  readonly body: Uint8Array
  /** As it was shown, `whsec_…`. */
  readonly secret: string
  readonly nowMs: number
}

/** How far our clock and the sender's may be apart, and how old a delivery may be. */
const toleranceSeconds = 300
const prefix = 'whsec_'

/**
 * Standard Webhooks: `webhook-signature` holds one or more `v1,<base64>`, HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`. Guards against replays too.
 */
export function verifyStandard({ headers, body, secret, nowMs }: Delivery): Verdict {
  const id = one(headers, 'webhook-id')
  const timestamp = one(headers, 'webhook-timestamp')
  const signatures = one(headers, 'webhook-signature')
  if (id === '' || timestamp === '' || signatures === '') return no('missing_header')
  if (!/^\d{1,12}$/.test(timestamp)) return no('bad_timestamp')
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds) return no('stale')
  const key = Buffer.from(
    secret.startsWith(prefix) ? secret.slice(prefix.length) : secret,
    'base64',
  )
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  const isOurs = signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',')
    return version === 'v1' && isEqual(Buffer.from(text, 'base64'), expected)
  })
  return isOurs ? { ok: true, id } : no('wrong_signature')
}

/**
 * The service's own header: lower-case hex HMAC-SHA256 of the body. While a secret is rotated the
 * old one stays there, and the new one signs beside it, in `…-Next`. Says nothing about replays.
 */
export function verifyService(
  { headers, body, secret }: Delivery,
  header = 'X-Service-Signature',
): Verdict {
  const given = [header, `${header}-Next`].map((name) => one(headers, name.toLowerCase()))
  if (given.every((text) => text === '')) return no('missing_header')
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest()
  const isOurs = given.some(
    (text) => /^[0-9a-f]{64}$/.test(text) && isEqual(Buffer.from(text, 'hex'), expected),
  )
  return isOurs ? { ok: true, id: one(headers, 'webhook-id') } : no('wrong_signature')
}

const no = (reason: Extract<Verdict, { ok: false }>['reason']): Verdict => ({ ok: false, reason })

const one = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** In a time that does not tell how much of it is right. */
const isEqual = (given: Uint8Array, expected: Uint8Array): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected)
