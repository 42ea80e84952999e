/** A proxy in front of InfluxDB that fails on request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { listenOn } from '../../../runtime/http/listen.ts'

/** What happens to a write; `pass` goes to the server, `unparsed` quotes a line as that would. */
export type WriteFate = 'pass' | 'refuse' | 'written, then cut' | { readonly unparsed: string }

export type FaultyProxy = AsyncDisposable & {
  readonly url: string
  /** Decides from now on. @param writes how many were made before */
  readonly decide: (fate: (writes: number, body: string) => WriteFate) => void
  readonly failed: () => number
  readonly writes: () => number
}

export async function openFaultyProxy(target: string): Promise<FaultyProxy> {
  let fateOf: (writes: number, body: string) => WriteFate = () => 'pass'
  let writes = 0
  let failed = 0

  const forward = (
    ask: IncomingMessage,
    body: Buffer,
    answer: ServerResponse | undefined,
  ): void => {
    const { connection: _, ...headers } = ask.headers
    const passed = request(
      new URL(ask.url ?? '/', target),
      { method: ask.method ?? 'GET', headers, agent: false },
      (reply) => {
        if (answer === undefined) {
          reply.resume()
          reply.once('end', () => ask.socket.destroy())
          return
        }
        answer.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(answer)
      },
    )
    passed.once('error', () => ask.socket.destroy())
    passed.end(body)
  }

  const server = createServer((ask, answer) => {
    void (async () => {
      const body = Buffer.concat(await Array.fromAsync(ask as AsyncIterable<Buffer>))
      if (ask.url?.startsWith('/api/v2/write') !== true) return forward(ask, body, answer)
      const fate = fateOf(writes++, body.toString())
      if (fate !== 'pass') failed++
      if (typeof fate === 'object') {
        answer.writeHead(400, { 'content-type': 'application/json' })
        const message = `unable to parse '${fate.unparsed}': made to fail`
        return void answer.end(JSON.stringify({ code: 'invalid', message }))
      }
      switch (fate) {
        case 'pass':
          return forward(ask, body, answer)
        case 'refuse':
          answer.writeHead(503, { 'content-type': 'application/json' })
          return void answer.end('{"code":"unavailable","message":"made to fail"}')
        case 'written, then cut':
          return forward(ask, body, undefined)
      }
    })().catch(() => ask.socket.destroy())
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'port' })
  return {
    url,
    decide: (fate) => {
      fateOf = fate
    },
    failed: () => failed,
    writes: () => writes,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
