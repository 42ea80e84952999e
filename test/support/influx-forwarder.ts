/** In front of a real InfluxDB: each request is seen before it is passed on. */
import { createServer, type IncomingMessage } from 'node:http'
import { listenOn } from '../../runtime/http/listen.ts'

type Forwarder = AsyncDisposable & { readonly url: string }

/** What becomes of a request: it is passed on, its connection is cut, or only the answer is lost. */
export type Fate = 'pass' | 'cut' | 'lose the answer'

export async function influxForwarder(
  target: string,
  fateOf: (request: IncomingMessage) => Fate | Promise<Fate>,
): Promise<Forwarder> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await Array.fromAsync(request))
      const fate = await fateOf(request)
      if (fate === 'cut') return response.destroy()
      const { authorization = '', 'content-type': type = 'text/plain' } = request.headers
      const passed = await fetch(`${target}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type, accept: 'application/json' },
        ...(body.length === 0 ? {} : { body }),
      })
      const answer = await passed.text()
      if (fate === 'lose the answer') return response.destroy()
      const version = passed.headers.get('x-influxdb-version') ?? ''
      const headers = { 'x-influxdb-version': version, 'content-type': 'application/json' }
      return response.writeHead(passed.status, headers).end(answer)
    })()
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: '' })
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
