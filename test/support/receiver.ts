/** Real HTTP receivers on loopback that behave as a test specifies, well or badly. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTls } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'

export type Received = {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** As parsed JSON. */
  readonly json: {
    readonly event: string
    readonly timestamp: string
    readonly data: Record<string, unknown>
  }
  readonly id: string
  readonly path: string
  readonly atMs: number
}

export type Receiver = AsyncDisposable & {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** Its response from now on. */
  answer: (response: ServerResponse, received: Received) => void
}

type Options = {
  readonly answer?: Receiver['answer']
  readonly tls?: { readonly key: string; readonly cert: string }
}

export async function startReceiver(options: Options = {}): Promise<Receiver> {
  const received: Received[] = []
  const listener: Parameters<typeof createServer>[1] = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const one: Received = {
        headers: request.headers,
        body,
        json: JSON.parse(body.toString()) as Received['json'],
        id: String(request.headers['webhook-id']),
        path: request.url ?? '',
        atMs: performance.now(),
      }
      received.push(one)
      receiver.answer(response, one)
    })
  }
  const server = options.tls ? createTls(options.tls, listener) : createServer(listener)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listen(server)
  const receiver: Receiver = {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: options.answer ?? ((response) => void response.writeHead(200).end('ok')),
    [Symbol.asyncDispose]: () => close(server, sockets),
  }
  return receiver
}

export type RawReceiver = AsyncDisposable & {
  readonly url: string
  readonly port: number
  /** Requests whose headers have arrived. */
  readonly requests: () => number
}

/** Responds with raw bytes, valid HTTP or not. */
export async function startRawReceiver(
  onRequest: (socket: Socket, request: string) => void,
): Promise<RawReceiver> {
  let requests = 0
  const sockets = new Set<Socket>()
  const server = createTcp((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
      if (!text.includes('\r\n\r\n')) return
      requests++
      const request = text
      text = ''
      onRequest(socket, request)
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests: () => requests,
    [Symbol.asyncDispose]: () => close(server, sockets),
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await closed
}
