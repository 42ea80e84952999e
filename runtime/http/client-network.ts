import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../core/access/network-of.ts'

/**
 * The network a request comes from, for limits. `X-Forwarded-For` is trusted only as far as our
 * own proxies wrote it: the client may have invented everything further left.
 * @param proxies how many of our own proxies a request has passed
 */
export function clientNetwork(request: IncomingMessage, proxies: number): string {
  const socket = request.socket.remoteAddress ?? ''
  if (proxies === 0) return networkOf(socket)
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
  return networkOf(forwarded.at(-proxies) || socket)
}
