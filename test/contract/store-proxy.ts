import type { ServerResponse } from 'node:http'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { listenOn } from '../../runtime/http/listen.ts'

export type Asked = { readonly path: string; readonly body: string }

/** What the proxy does with a request: hand it on, answer itself, hang up, or say nothing. */
export type Deed =
  | 'pass'
  | 'cut'
  | 'silence'
  | {
      readonly status: number
      readonly json?: unknown
      readonly text?: string
      readonly headers?: Readonly<Record<string, string>>
    }

export type FaultyProxy = AsyncDisposable & {
  readonly url: string
  /** Every request so far, oldest first. */
  readonly asked: readonly Asked[]
}

/** Stands in front of a real InfluxDB and spoils what the test wants spoilt. */
export async function faultyProxy(
  target: string,
  decide: (asked: Asked, count: number) => Deed,
): Promise<FaultyProxy> {
  const asked: Asked[] = []
  const server = createServer((from, to) => void answer(from, to))

  async function answer(from: IncomingMessage, to: ServerResponse): Promise<void> {
    let body = ''
    for await (const part of from.setEncoding('utf8')) body += String(part)
    const one = { path: from.url ?? '', body }
    asked.push(one)
    const deed = decide(one, asked.length)
    if (deed === 'silence') return
    if (deed === 'cut') return void from.socket.destroy()
    if (deed === 'pass') return pass(target, one, from.method ?? 'GET', from.headers, to)
    const { status, json, text = json === undefined ? '' : JSON.stringify(json) } = deed
    const type = json === undefined ? 'text/html' : 'application/json; charset=utf-8'
    to.writeHead(status, { 'content-type': type, ...deed.headers }).end(text)
  }

  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'port' })
  return {
    url,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function pass(
  target: string,
  { path, body }: Asked,
  method: string,
  headers: IncomingHttpHeaders,
  to: ServerResponse,
): void {
  const onward = request(new URL(path, target), { method, headers, agent: false }, (answer) => {
    to.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(to)
  })
  onward.once('error', () => to.destroy())
  onward.end(body)
}
