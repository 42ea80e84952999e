/** A network between two servers that can be cut: bytes wait, and connections do not notice. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenOn } from '../../../runtime/http/listen.ts'

export type Link = AsyncDisposable & {
  readonly port: number
  /** From now on nothing passes, in either direction; nothing is closed either. */
  readonly cut: () => void
  /** What waited goes on its way. */
  readonly heal: () => void
}

/** Passes TCP connections on to a port of this machine. */
export async function openLink(target: number): Promise<Link> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const passOn = ([from, to]: readonly [Socket, Socket]): void => {
    from.pipe(to)
    to.pipe(from)
  }
  const hold = (pair: readonly [Socket, Socket]): void => {
    for (const socket of pair) socket.unpipe().pause()
  }
  const server = createServer({ pauseOnConnect: true }, (from) => {
    const pair = [from, connect(target, '127.0.0.1')] as const
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.once('close', () => {
        pairs.delete(pair)
        for (const either of pair) either.destroy()
      })
    }
    if (!isCut) passOn(pair)
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'port' })
  return {
    port: Number(new URL(url).port),
    cut: () => {
      isCut = true
      for (const pair of pairs) hold(pair)
    },
    heal: () => {
      isCut = false
      for (const pair of pairs) passOn(pair)
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await closed
    },
  }
}
