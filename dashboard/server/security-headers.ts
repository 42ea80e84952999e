/** On every answer, so that a page of ours does no more than it was written to do. */
const policyWith = (others: string, style: string): string =>
  [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'${style}`,
    `img-src 'self' data:${others}`,
    `font-src 'self'`,
    `connect-src 'self'${others}`,
    `worker-src 'self'`,
    `manifest-src 'self'`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')

/** The one file that may ask another server: the node of the chain that the reader names. */
export const nodeWorker = '/ask-node.js'
/** A worker's policy is that of its own file: the pages that start it cannot do the same. */
export const nodeWorkerPolicy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `connect-src https: http://127.0.0.1:* http://localhost:*`,
].join('; ')

/**
 * @param publicUrl where people reach us; with https, browsers must stay on TLS
 * @param tilesUrl of the map, where the operator chose another server's: the one more host that
 * pages may ask
 * @param styleHash of the one style that may be inside the page
 */
export const securityHeaders = (
  publicUrl: string,
  tilesUrl?: string,
  styleHash?: string,
): Readonly<Record<string, string>> => ({
  'content-security-policy': policyWith(
    tilesUrl === undefined ? '' : ` ${new URL(tilesUrl).origin}`,
    styleHash === undefined ? '' : ` '${styleHash}'`,
  ),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // `no-referrer` would make browsers send forms with `Origin: null`
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(self), microphone=(), payment=(), usb=()',
  ...(publicUrl.startsWith('https:')
    ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }
    : {}),
})
