/**
 * How many connections one network may hold, so that one host which sends slowly, or nothing, cannot
 * keep all others out. Proxies, other processes of ours and networks inside count as one place with
 * many clients. A site of IPv6 has a bound besides, or its 65,536 networks would hold them all.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, siteOf } from '../../core/access/network-of.ts'
import { judgeAddress } from '../../core/access/public-address.ts'

/** In all. */
export const mostConnections = 10_000

/** For each network: of a public address, and of any other. */
export type ConnectionBounds = { readonly fromPublic: number; readonly fromInside: number }

export const usualConnections: ConnectionBounds = { fromPublic: 256, fromInside: 5_000 }

/** Closes a connection that is one too many for its network before a byte of it is read. */
export function boundConnections(server: Server, bounds?: ConnectionBounds): void {
  const takePlace = connectionPlaces(bounds)
  server.maxConnections = mostConnections
  server.on('connection', (socket: Socket) => {
    const giveBack = takePlace(socket.remoteAddress ?? '')
    if (giveBack === undefined) socket.destroy()
    else socket.once('close', giveBack)
  })
}

/** @returns takes a place for an address: the way to give it back, or undefined where there is none */
export function connectionPlaces({
  fromPublic,
  fromInside,
}: ConnectionBounds = usualConnections): (address: string) => (() => void) | undefined {
  const ofASite = Math.min(10 * fromPublic, mostConnections / 2)
  const open = new Map<string, number>()
  const add = (who: string, more: 1 | -1): void => {
    const count = (open.get(who) ?? 0) + more
    if (count > 0) open.set(who, count)
    else open.delete(who)
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
    const network = networkOf(plain)
    const isPublic = judgeAddress(plain) === 'public'
    const site = isPublic ? siteOf(network) : undefined
    const bounds = new Map([[network, isPublic ? fromPublic : fromInside]])
    if (site !== undefined) bounds.set(site, ofASite)
    for (const [who, most] of bounds) if ((open.get(who) ?? 0) >= most) return undefined
    for (const who of bounds.keys()) add(who, 1)
    return () => {
      for (const who of bounds.keys()) add(who, -1)
    }
  }
}
