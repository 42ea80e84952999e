/**
 * How a delivery reaches its receiver: the name is resolved, every address judged, a judged address
 * dialled, and the socket's actual peer judged again before a byte is sent. Each connection has one
 * deadline for all of it.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import type { PublicResolver } from '../../runtime/http/public-resolver.ts'
import type { AttemptError } from '../../schemas/webhooks/attempt.ts'

/** Why no connection was made. */
export class DialError extends Error {
  override readonly name = 'DialError'
  readonly kind: AttemptError

  constructor(kind: AttemptError, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

export type Dialled = {
  readonly address: string
  readonly resolveMs: number
  /** TCP and TLS together. */
  readonly connectMs: number
}

type DialOptions = {
  readonly resolver: PublicResolver
  readonly onDialled: (dialled: Dialled) => void
  readonly timeoutMs?: number
  /** Most bytes of one exchange, of any kind; then the connection is closed. */
  readonly answerBytes: number
  /** Certificates to trust in addition to the system's: for a test's own authority. */
  readonly ca?: string | undefined
}

export const dialTimeoutMs = 5_000

/** @returns a connector for undici */
export function dialer(options: DialOptions): buildConnector.connector {
  return (target, callback) => {
    dial(target, options).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    )
  }
}

async function dial(
  { hostname, port, protocol, servername }: buildConnector.Options,
  { resolver, onDialled, ca, answerBytes, timeoutMs = dialTimeoutMs }: DialOptions,
): Promise<Socket> {
  const startMs = performance.now()
  const deadline = AbortSignal.timeout(timeoutMs)
  const resolved = await Promise.race([resolver.resolve(hostname), never(deadline, 'dns')])
  if ('fault' in resolved) throw new DialError(resolved.fault, resolved.detail)
  const resolvedMs = performance.now()
  const isTls = protocol === 'https:'
  const number = Number(port) || (isTls ? 443 : 80)
  const plain = await dialOne(resolved.addresses, number, deadline)
  const address = plain.remoteAddress ?? ''
  if (!resolver.mayDial(address)) {
    plain.destroy()
    throw new DialError('blocked_address', `connected to ${address}`)
  }
  const socket = isTls ? await secure(plain, servername ?? hostname, deadline, ca) : plain
  boundAnswers(socket, plain, answerBytes)
  onDialled({
    address,
    resolveMs: resolvedMs - startMs,
    connectMs: performance.now() - resolvedMs,
  })
  return socket
}

/** The first address that answers, in the resolver's order. */
async function dialOne(
  addresses: readonly string[],
  port: number,
  deadline: AbortSignal,
): Promise<Socket> {
  let last: unknown
  for (const host of addresses) {
    const socket = connectTcp({ host, port, noDelay: true, keepAlive: true })
    try {
      await opened(socket, 'connect', deadline, 'connect')
      return socket
    } catch (error) {
      last = error
      if (deadline.aborted) break
    }
  }
  throw last
}

async function secure(
  socket: Socket,
  servername: string,
  deadline: AbortSignal,
  ca: string | undefined,
): Promise<Socket> {
  const host = servername.replace(/\.$/, '')
  const tls = connectTls({
    socket,
    // SNI cannot carry an address; the certificate must name it all the same
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    ...(ca === undefined ? {} : { ca }),
  })
  await opened(tls, 'secureConnect', deadline, 'tls')
  return tls
}

/**
 * Waits for the event. On any failure before it, destroys the socket and rejects with the reason.
 */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  deadline: AbortSignal,
  kind: AttemptError,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      socket.off(event, onOpen)
      socket.off('error', onError)
      socket.off('close', onClose)
      deadline.removeEventListener('abort', onDeadline)
    }
    const fail = (error: DialError): void => {
      settle()
      // late errors of a socket that was given up are ignored
      socket.on('error', () => undefined)
      socket.destroy()
      reject(error)
    }
    const onOpen = (): void => {
      settle()
      resolve()
    }
    const onError = (cause: Error): void => fail(new DialError(kind, cause.message, { cause }))
    const onClose = (): void => fail(new DialError(kind, 'closed before it was open'))
    const onDeadline = (): void => fail(new DialError('connect_timeout', 'no connection in time'))
    socket.once(event, onOpen)
    socket.once('error', onError)
    socket.once('close', onClose)
    if (deadline.aborted) onDeadline()
    else deadline.addEventListener('abort', onDeadline, { once: true })
  })
}

function never(deadline: AbortSignal, kind: AttemptError): Promise<never> {
  return new Promise((_, reject) => {
    deadline.addEventListener('abort', () => reject(new DialError(kind, 'no answer in time')), {
      once: true,
    })
  })
}

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
  readonly code = 'ANSWER_TOO_LARGE'
}

/**
 * Limits how much a receiver may send in answer to one attempt, counted on the socket: whatever the
 * bytes are (headers, interim answers, chunk extensions, TLS tickets), they cost the same traffic.
 * Destroys `socket` when one exchange has received `mostBytes`; a read may add at most 64 KiB. An
 * exchange starts when we have written again: undici sends one request at a time per connection.
 * @param wire the socket whose bytes are counted: with TLS, the one below it
 */
function boundAnswers(socket: Socket, wire: Socket, mostBytes: number): void {
  let written = socket.bytesWritten
  let read = wire.bytesRead
  let before = read
  const check = (): void => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      before = read
    }
    read = wire.bytesRead
    if (read - before < mostBytes) return
    const most = Math.round(mostBytes / 1_024)
    socket.destroy(new AnswerTooLarge(`the receiver sent ${most} KiB or more in one answer`))
  }
  socket.on('readable', check)
  // only TLS: a ticket, which makes nothing readable
  socket.on('session', check)
}
