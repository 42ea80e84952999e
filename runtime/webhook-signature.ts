/**
 * Both families of signature of a delivery:
 *
 * - the service's own: lower-case hex HMAC-SHA256 of the body, key = the secret as displayed;
 * - Standard Webhooks (standardwebhooks.com, version 1.0.0): base 64 HMAC-SHA256 of
 *   `<id>.<timestamp>.<body>`, key = the base 64 part of the secret, decoded.
 */
import { createHmac } from 'node:crypto'

export const secretPrefix = 'whsec_'

/** The header with the service's own signature; an operator may configure another brand. */
export const defaultSignatureHeader = 'X-Service-Signature'

export type SignedParts = {
  /** Constant over the attempts of a delivery: the receiver's idempotency key. */
  readonly id: string
  readonly timestampSeconds: number
  readonly body: Uint8Array
}

/** The secrets in force: during a rotation the old and the new one. */
export type SecretsInForce = { readonly secret: string; readonly next?: string }

/** @param secret as displayed, `whsec_…` */
export const serviceSignature = (secret: string, body: Uint8Array): string =>
  createHmac('sha256', secret).update(body).digest('hex')

/** @param secret as displayed, `whsec_…` @returns `v1,…` */
export function standardSignature(secret: string, signed: SignedParts): string {
  const { id, timestampSeconds, body } = signed
  const key = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret
  const hmac = createHmac('sha256', Buffer.from(key, 'base64'))
  return `v1,${hmac.update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`
}

/** Every header that a receiver needs in order to check a delivery. */
export function signatureHeaders(
  { secret, next }: SecretsInForce,
  signed: SignedParts,
  header: string = defaultSignatureHeader,
): Record<string, string> {
  const secrets = next === undefined ? [secret] : [secret, next]
  return {
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestampSeconds),
    'webhook-signature': secrets.map((each) => standardSignature(each, signed)).join(' '),
    [header]: serviceSignature(secret, signed.body),
    ...(next === undefined ? {} : { [`${header}-Next`]: serviceSignature(next, signed.body) }),
  }
}
