/** In front of a real API: it refuses, or cuts an answer short, where the test wants it. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { listenOn } from '../../runtime/http/listen.ts'

/**
 * Hand it on; refuse it for a second, with 429 or with 503; take it and never answer; or end the connection after
 * a number of bytes of the answer.
 */
export type Deed = 'pass' | 'too many' | 'away' | 'hang' | { readonly cutAfter: number }

export type FaultyProxy = AsyncDisposable & {
  readonly url: string
  /** Every request so far: its path, and what was done. */
  readonly asked: { readonly path: string; readonly deed: Deed }[]
  /** Answers under way whose path begins with this. */
  readonly underWay: (path: string) => number
  /** Nothing more arrives of these answers, and their connections stay open. */
  readonly freeze: (path: string) => void
  /** Ends these connections. */
  readonly cut: (path: string) => void
  /** Replaces the rule. @param decide count: from 1, of the requests since */
  readonly be: (decide: (path: string, count: number) => Deed) => void
}

const refusals = {
  'too many': [429, 'too_many_requests'],
  away: [503, 'overloaded'],
} as const

export async function faultyProxy(target: string): Promise<FaultyProxy> {
  let decide: (path: string, count: number) => Deed = () => 'pass'
  const asked: FaultyProxy['asked'] = []
  let count = 0
  const open = new Map<ServerResponse, { readonly path: string; readonly reply: IncomingMessage }>()
  const answer = (from: IncomingMessage, to: ServerResponse): void => {
    const path = from.url ?? ''
    const deed = decide(path, ++count)
    asked.push({ path, deed })
    if (deed === 'hang') {
      from.resume()
      return
    }
    if (deed === 'too many' || deed === 'away') {
      from.resume()
      const [status, code] = refusals[deed]
      const error = { code, message: 'wait', details: {} }
      to.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' })
      to.end(JSON.stringify({ status: 'error', error, request_id: '' }))
      return
    }
    const { method, headers } = from
    const onward = request(new URL(path, target), { method, headers, agent: false }, (reply) => {
      to.writeHead(reply.statusCode ?? 502, reply.headers)
      // its head alone does not wait for the first byte
      to.flushHeaders()
      open.set(to, { path, reply })
      let left = deed === 'pass' ? Infinity : deed.cutAfter
      reply.on('data', (bytes: Buffer) => {
        const sent = bytes.subarray(0, left)
        left -= sent.length
        to.write(sent, () => {
          if (left === 0) to.destroy()
        })
      })
      reply.once('end', () => to.end())
      reply.once('error', () => to.destroy())
    })
    onward.once('error', () => to.destroy())
    to.once('close', () => {
      open.delete(to)
      onward.destroy()
    })
    from.pipe(onward)
  }
  const server = createServer(answer)
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'port' })
  return {
    url,
    asked,
    underWay: (path) => [...open.values()].filter((one) => one.path.startsWith(path)).length,
    freeze: (path) => {
      for (const one of open.values()) if (one.path.startsWith(path)) one.reply.pause()
    },
    cut: (path) => {
      for (const [to, one] of open) if (one.path.startsWith(path)) to.destroy()
    },
    be: (rule) => {
      decide = rule
      count = 0
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
