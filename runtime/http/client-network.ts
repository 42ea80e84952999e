import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../core/access/network-of.ts'

/**
 * The network a request comes from, for limits. What is in `X-Forwarded-For` is believed only as far
 * as proxies of ours wrote it: everything further left is the client's own invention.
 * @param proxies how many of ours a request has passed
 */
export function clientNetwork(request: IncomingMessage, proxies: number): string {
  const socket = request.socket.remoteAddress ?? ''
  if (proxies === 0) return networkOf(socket)
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
  return networkOf(forwarded.at(-proxies) || socket)
}
