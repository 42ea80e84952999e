/**
 * A proxy in front of a real node of the chain that misbehaves on request, by method. Without a
 * fault it forwards everything.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOn } from '../../runtime/http/listen.ts'

export type Question = { readonly method: string; readonly params: readonly unknown[] }
export type Pass = () => Promise<unknown>

/** What it does instead of forwarding; undefined: forward. */
export type Fault = (question: Question, pass: Pass) => Verdict | Promise<Verdict>
type Verdict =
  | undefined
  /** Never answers. */
  | 'hang'
  /** Cuts the connection. */
  | 'cut'
  | { readonly httpStatus: number }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly result: unknown }

export type RpcProxy = AsyncDisposable & {
  readonly url: string
  /** Replaces the fault. */
  readonly be: (fault: Fault) => void
  readonly beGood: () => void
  /** All requests so far. */
  readonly asked: Question[]
}

export async function rpcProxy(target: string): Promise<RpcProxy> {
  let fault: Fault = () => undefined
  const asked: Question[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request)
    const question = JSON.parse(body) as Question
    asked.push(question)
    const pass: Pass = async () => {
      const passed = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body,
      })
      return await passed.json()
    }
    const verdict = await fault(question, pass)
    if (verdict === 'hang') return
    if (verdict === 'cut') return void response.destroy()
    if (verdict !== undefined && 'httpStatus' in verdict) {
      response.writeHead(verdict.httpStatus).end('slow down')
      return
    }
    const reply = verdict === undefined ? await pass() : { jsonrpc: '2.0', id: 1, ...verdict }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: '' })
  return {
    url,
    asked,
    be: (next) => {
      fault = next
    },
    beGood: () => {
      fault = () => undefined
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export const isSend = ({ method }: Question): boolean => method === 'eth_sendRawTransaction'
