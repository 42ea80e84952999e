import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { secondMs } from '../core/time.ts'
import { codeOf } from '../runtime/exit.ts'
import { listenOn } from '../runtime/listen.ts'
import { ApiError } from './api-error.ts'
import { longestUrl } from './app.ts'
import { errorBody } from './error-answer.ts'

type Options = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly listener: RequestListener
  readonly limits?: Limits
}

/** How long a client may keep a socket busy, in ms. */
type Limits = {
  /** From the first byte of a request to its last, body included. */
  readonly requestMs: number
  /** Without a byte in either direction: whoever does not read its answer. */
  readonly idleMs: number
}

const usualLimits: Limits = { requestMs: 20 * secondMs, idleMs: 30 * secondMs }

export type HttpServer = AsyncDisposable & { readonly url: string }

/** How long answers under way may take when the process stops. */
const graceMs = 5 * secondMs
const mostConnections = 10_000

/** @throws MustAct where the port is taken */
export async function openHttpServer({
  host,
  port,
  listener,
  limits: { requestMs, idleMs } = usualLimits,
}: Options): Promise<HttpServer> {
  const server = createServer(
    {
      // whoever sends slowly holds a socket, so there is an end to it
      headersTimeout: requestMs / 2,
      requestTimeout: requestMs,
      connectionsCheckingInterval: requestMs / 10,
      keepAliveTimeout: 65 * secondMs,
      maxHeaderSize: 16 * 1024,
    },
    listener,
  )
  server.maxConnections = mostConnections
  // whoever reads slowly too: a socket on which nothing moves is closed
  server.setTimeout(idleMs)
  server.on('clientError', answerBroken)
  const url = await listenOn(server, { host, port, setting: 'AIRPROOF_API_PORT' })
  return { url, [Symbol.asyncDispose]: () => close(server) }
}

/** Requests under way are answered; those that take too long are cut off. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  // a connection becomes idle when its answer is out, and would then wait for another request
  const sweeping = setInterval(() => server.closeIdleConnections(), 20)
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(cutOff)
  clearInterval(sweeping)
}

/** What never became a request is answered all the same, in our envelope, and its socket closed. */
function answerBroken(error: Error, socket: Duplex): void {
  if (!socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, code, message } = brokenAs(error)
  const body = errorBody(new ApiError(status, code, message), randomUUID(), false)
  socket.end(
    `HTTP/1.1 ${status} ${reasons[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body.toString()}`,
  )
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
}

type Broken = { readonly status: number; readonly code: string; readonly message: string }

function brokenAs(error: Error): Broken {
  switch (codeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return isLineTooLong(error)
        ? { status: 414, code: 'url_too_long', message: 'the address is too long' }
        : { status: 431, code: 'headers_too_large', message: 'the headers are too large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, code: 'too_slow', message: 'the request took too long to arrive' }
    default:
      return { status: 400, code: 'bad_request', message: 'that is not an HTTP request' }
  }
}

/** Whether the request line alone was too long; Node keeps the packet that broke the limit. */
function isLineTooLong(error: Error): boolean {
  const packet: unknown = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return false
  const end = packet.indexOf('\n')
  return end === -1 || end > longestUrl
}
