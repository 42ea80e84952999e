/** An HTTP server that withstands slow, broken and too many clients. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { secondMs } from '../../core/time.ts'
import { codeOf } from '../exit.ts'
import { boundConnections, type ConnectionBounds } from './connection-bounds.ts'
import { listenOn } from './listen.ts'
import { createServer } from './node-http.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { TlsFiles } from './tls-files.ts'

export type HttpServerOptions = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** The variable that chose the port, for the message when it is taken. */
  readonly setting: string
  readonly listener: RequestListener
  /** Characters of an address, its query included. */
  readonly longestUrl: number
  /** The JSON of the response to bytes that are not a valid request. */
  readonly brokenBody: (broken: BrokenRequest, requestId: string) => Buffer
  /** More headers of that response. */
  readonly brokenHeaders?: Readonly<Record<string, string>>
  readonly limits?: HttpLimits
  readonly connections?: ConnectionBounds
  /** HTTPS with these files, which are read again when they change; absent: plain HTTP. */
  readonly tls?: TlsFiles | undefined
}

/** How a server responds to what it does not pass to its listener. */
type ToBroken = Pick<HttpServerOptions, 'brokenBody' | 'brokenHeaders'>

/** How long a client may keep a socket busy, in ms. */
export type HttpLimits = {
  /** From the first byte of a request to its last, body included. */
  readonly requestMs: number
  /**
   * Without a byte in either direction: a client that does not read its response. A request that is
   * still being worked on receives 503 then.
   */
  readonly idleMs: number
}

const usualLimits: HttpLimits = { requestMs: 20 * secondMs, idleMs: 30 * secondMs }

export type HttpServer = AsyncDisposable & { readonly url: string }

/** How long responses under way may take when the process stops. */
const graceMs = 5 * secondMs

/** @throws MustAct if the port is taken */
export async function startHttpServer({
  host,
  port,
  setting,
  listener,
  longestUrl,
  brokenBody,
  brokenHeaders = {},
  limits: { requestMs, idleMs } = usualLimits,
  connections,
  tls,
}: HttpServerOptions): Promise<HttpServer> {
  const toBroken = { brokenBody, brokenHeaders }
  const server = serverOf(
    {
      // a client that sends slowly holds a socket, so its time is limited
      headersTimeout: requestMs / 2,
      requestTimeout: requestMs,
      connectionsCheckingInterval: requestMs / 10,
      keepAliveTimeout: 65 * secondMs,
      maxHeaderSize: 16 * 1024,
      // Node's own response has no body
      requireHostHeader: false,
    },
    oneAtATime(withHost(listener, toBroken)),
    tls,
  )
  boundConnections(server, connections)
  answerBeforeIdle(server, idleMs, toBroken)
  // Node's own response is 417, without our headers and body; RFC 9110 allows to ignore the header
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response)
  })
  server.on('clientError', (error, socket) => {
    answerBroken(error, socket, toBroken, longestUrl)
  })
  const url = await listenOn(server, { host, port, setting })
  return {
    url: tls ? url.replace('http:', 'https:') : url,
    [Symbol.asyncDispose]: () => close(server),
  }
}

/**
 * Accepts requests with a Host header, as RFC 9112 requires of HTTP/1.1, and only one: of two, Node
 * reports the first, and a proxy in front may have used the second.
 */
const withHost =
  (listener: RequestListener, toBroken: ToBroken): RequestListener =>
  (request, response) => {
    const hosts = hostsIn(request.rawHeaders)
    if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) {
      listener(request, response)
      return
    }
    const message = `the request has ${hosts === 0 ? 'no' : 'more than one'} Host header`
    endWith(response, { status: 400, code: 'bad_request', message }, toBroken)
  }

/** @param raw names and values in turn, as they were sent */
function hostsIn(raw: readonly string[]): number {
  let count = 0
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.length === 4 && raw[at]?.toLowerCase() === 'host') count++
  return count
}

/** Instead of the listener's own response; the connection is closed after it. */
function endWith(
  response: ServerResponse,
  broken: BrokenRequest,
  { brokenBody, brokenHeaders }: ToBroken,
): void {
  const requestId = randomUUID()
  const body = brokenBody(broken, requestId)
  response
    .writeHead(broken.status, {
      'content-type': 'application/json',
      'content-length': body.length,
      connection: 'close',
      ...brokenHeaders,
      'x-request-id': requestId,
      ...(broken.status === 503 ? { 'retry-after': '2' } : {}),
    })
    .end(body)
}

function serverOf(
  options: ServerOptions,
  listener: RequestListener,
  tls: TlsFiles | undefined,
): Server {
  if (tls === undefined) return createServer(options, listener)
  const read = () => ({
    cert: readFileSync(tls.files.certFile),
    key: readFileSync(tls.files.keyFile),
  })
  const server = createTlsServer({ ...options, ...read() }, listener)
  tls.onChange(() => {
    try {
      server.setSecureContext(read())
    } catch {
      // half a pair, or none: the previous one stays in use until the next change
    }
  })
  return server
}

/**
 * Closes a socket on which nothing moves: its client reads too slowly, or sends no request. If it
 * waits for a response that has not begun, it receives an error response first.
 */
function answerBeforeIdle(server: Server, idleMs: number, toBroken: ToBroken): void {
  const unanswered = new WeakMap<Duplex, Set<ServerResponse>>()
  server.on('request', ({ socket }, response) => {
    const waiting = unanswered.get(socket) ?? new Set()
    unanswered.set(socket, waiting.add(response))
    response.once('close', () => waiting.delete(response))
  })
  server.setTimeout(idleMs, (socket) => {
    const waiting = [...(unanswered.get(socket) ?? [])]
    if (waiting.length === 0 || waiting.some(({ headersSent }) => headersSent)) {
      socket.destroy()
      return
    }
    for (const response of waiting) endWith(response, tookTooLong, toBroken)
  })
}

const tookTooLong: BrokenRequest = {
  status: 503,
  code: 'took_too_long',
  message: 'the request took too long to process: try again later',
}

/** Completes requests under way; those that take too long are cut off. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  // a connection becomes idle after its response, and would then wait for another request
  const sweeping = setInterval(() => server.closeIdleConnections(), 20)
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(cutOff)
  clearInterval(sweeping)
}

/** Bytes that are not a valid request receive a response too; then the socket is closed. */
function answerBroken(
  error: Error,
  socket: Duplex,
  { brokenBody, brokenHeaders = {} }: ToBroken,
  longestUrl: number,
): void {
  if (!socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const broken = brokenAs(error, longestUrl)
  const requestId = randomUUID()
  const body = brokenBody(broken, requestId)
  const more = Object.entries(brokenHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${broken.status} ${reasons[broken.status]}\r\ncontent-type: application/json\r\n` +
      `${more.join('')}x-request-id: ${requestId}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body.toString()}`,
  )
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
}

export type BrokenRequest = {
  readonly status: number
  /** A word for programs; `message` is for people. */
  readonly code: 'bad_request' | 'too_slow' | 'url_too_long' | 'headers_too_large' | 'took_too_long'
  readonly message: string
}

function brokenAs(error: Error, longestUrl: number): BrokenRequest {
  switch (codeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return isLineTooLong(error, longestUrl)
        ? { status: 414, code: 'url_too_long', message: 'the address is too long' }
        : { status: 431, code: 'headers_too_large', message: 'the headers are too large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, code: 'too_slow', message: 'the request took too long to arrive' }
    default:
      return { status: 400, code: 'bad_request', message: 'that is not an HTTP request' }
  }
}

/** Whether the request line itself was too long; Node keeps the packet that exceeded the limit. */
function isLineTooLong(error: Error, longestUrl: number): boolean {
  const packet: unknown = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return false
  const end = packet.indexOf('\n')
  return end === -1 || end > longestUrl
}
