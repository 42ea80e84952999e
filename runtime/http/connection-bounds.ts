/**
 * How many connections one network may hold, so that one host which sends slowly, or nothing, cannot
 * keep all others out. An address that is not public (a proxy, another of our processes, an internal
 * network) may have many clients, so its bound is larger. A site of IPv6 has a bound too, or its
 * 65,536 networks would hold them all.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, siteOf } from '../../core/access/network-of.ts'
import { judgeAddress } from '../../core/access/public-address.ts'

/** In all. */
export const mostConnections = 10_000

/** Per network: for a public address, and for any other. */
export type ConnectionBounds = { readonly fromPublic: number; readonly fromInside: number }

export const usualConnections: ConnectionBounds = { fromPublic: 256, fromInside: 5_000 }

/** Closes a connection above its network's bound before a byte of it is read. */
export function boundConnections(server: Server, bounds?: ConnectionBounds): void {
  const takePlace = connectionPlaces(bounds)
  server.maxConnections = mostConnections
  server.on('connection', (socket: Socket) => {
    const release = takePlace(socket.remoteAddress ?? '')
    if (release === undefined) socket.destroy()
    else socket.once('close', release)
  })
}

/** @returns a function that takes a place for an address and returns its release, or undefined if there is none left */
export function connectionPlaces({
  fromPublic,
  fromInside,
}: ConnectionBounds = usualConnections): (address: string) => (() => void) | undefined {
  const siteBound = Math.min(10 * fromPublic, mostConnections / 2)
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
    if (site !== undefined) bounds.set(site, siteBound)
    for (const [who, most] of bounds) if ((open.get(who) ?? 0) >= most) return undefined
    for (const who of bounds.keys()) add(who, 1)
    return () => {
      for (const who of bounds.keys()) add(who, -1)
    }
  }
}
