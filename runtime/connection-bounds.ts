/**
 * How many connections one network may hold, so that one host which sends slowly, or nothing, cannot
 * keep all others out. Proxies, other processes of ours and networks inside count as one place with
 * many clients.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../core/network-of.ts'
import { judgeAddress } from '../core/public-address.ts'

/** In all. */
export const mostConnections = 10_000

/** For each network: of a public address, and of any other. */
export type ConnectionBounds = { readonly fromPublic: number; readonly fromInside: number }

export const usualConnections: ConnectionBounds = { fromPublic: 256, fromInside: 5_000 }

/** Closes a connection that is one too many for its network before a byte of it is read. */
export function boundConnections(
  server: Server,
  { fromPublic, fromInside }: ConnectionBounds = usualConnections,
): void {
  const open = new Map<string, number>()
  server.maxConnections = mostConnections
  server.on('connection', (socket: Socket) => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    const most = judgeAddress(address) === 'public' ? fromPublic : fromInside
    if (count > most) {
      socket.destroy()
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}
