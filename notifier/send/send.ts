/**
 * One POST: redirects are not followed, nothing is decompressed, at most 64 KiB of the answer's
 * body are read and 8 KiB stored, the connection ends at 256 KiB received, and the whole exchange
 * has 15 seconds. Each webhook has its own connections, so none waits for another's receiver.
 */
import type { Dispatcher, Pool } from 'undici'
import { codeOf } from '../../runtime/exit.ts'
import type { PublicResolver } from '../../runtime/http/public-resolver.ts'
import type { AttemptError } from '../../schemas/webhooks/attempt.ts'
import { DialError, type Dialled, dialer, dialTimeoutMs } from './dial.ts'

export type Answer = {
  readonly status: number
  /** Name and value, as the receiver wrote them. */
  readonly headers: readonly (readonly [string, string])[]
  /** The first 8 KiB. */
  readonly body: Uint8Array
  readonly isTruncated: boolean
}

export type Sent = {
  /** The whole answer arrived, or as much of it as we read. */
  readonly answer: Answer | undefined
  /** undefined if there is an answer; an answer that broke off may have both. */
  readonly error: { readonly kind: AttemptError; readonly detail: string } | undefined
  readonly address: string | undefined
  readonly timings: {
    /** undefined if a connection was reused, or none was made. */
    readonly resolveMs: number | undefined
    readonly connectMs: number | undefined
    readonly firstByteMs: number | undefined
    readonly totalMs: number
  }
}

export type Post = {
  /** The webhook whose connections are used. */
  readonly webhook: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
}

/** Never rejects: the result holds what went wrong. */
export type Sender = AsyncDisposable & { readonly send: (post: Post) => Promise<Sent> }

export type SendLimits = {
  readonly totalMs: number
  readonly connectMs: number
  /** Most bytes of the body that are read. */
  readonly readBytes: number
  /** Most bytes received on the socket, of any kind. */
  readonly answerBytes: number
  readonly keptBytes: number
}

export const sendLimits: SendLimits = {
  totalMs: 15_000,
  connectMs: dialTimeoutMs,
  readBytes: 64 * 1_024,
  answerBytes: 256 * 1_024,
  keptBytes: 8 * 1_024,
}

type Options = {
  readonly resolver: PublicResolver
  readonly limits?: SendLimits
  readonly connectionsEach?: number
  readonly ca?: string | undefined
}

type Line = {
  readonly pool: Pool
  readonly origin: string
  dialled: Dialled | undefined
  usedMs: number
}

const idleMs = 30_000

/** 100 ms of loading, which the first delivery waits for and no start does. */
let undici: Promise<typeof import('undici')> | undefined

export function openSender(options: Options): Sender {
  const { resolver, limits = sendLimits, connectionsEach = 4, ca } = options
  const lines = new Map<number, Line>()
  const closing = new Set<Promise<unknown>>()

  const close = (line: Line): void => {
    const closed = line.pool.destroy().catch(() => undefined)
    closing.add(closed)
    void closed.then(() => closing.delete(closed))
  }

  const lineOf = async (webhook: number, origin: string): Promise<Line> => {
    undici ??= import('undici')
    const { Pool } = await undici
    const known = lines.get(webhook)
    if (known?.origin === origin) return known
    // exchanges under way to the former address end by themselves
    if (known) void known.pool.close().catch(() => undefined)
    const line: Line = {
      origin,
      dialled: undefined,
      usedMs: performance.now(),
      pool: new Pool(origin, {
        connections: connectionsEach,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: 10_000,
        keepAliveMaxTimeout: 60_000,
        connect: dialer({
          resolver,
          ca,
          timeoutMs: limits.connectMs,
          answerBytes: limits.answerBytes,
          onDialled: (dialled) => {
            line.dialled = dialled
          },
        }),
      }),
    }
    lines.set(webhook, line)
    return line
  }

  const sweep = setInterval(() => {
    const nowMs = performance.now()
    for (const [webhook, line] of lines) {
      if (nowMs - line.usedMs < idleMs) continue
      lines.delete(webhook)
      close(line)
    }
  }, idleMs / 3)
  sweep.unref()

  return {
    send: async (post) => {
      const url = new URL(post.url)
      const line = await lineOf(post.webhook, url.origin)
      line.usedMs = performance.now()
      line.dialled = undefined
      const exchange = startExchange(line, limits)
      exchange.dispatch(post, url)
      const sent = await exchange.sent
      line.usedMs = performance.now()
      return sent
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(sweep)
      for (const line of lines.values()) close(line)
      lines.clear()
      await Promise.all(closing)
    },
  }
}

/** Shared by all: creating an error with its stack costs more than the rest of an exchange. */
const exchangeOver = new Error('the exchange is over')

function startExchange(line: Line, limits: SendLimits) {
  const startMs = performance.now()
  const { promise: sent, resolve } = Promise.withResolvers<Sent>()
  const bodyParts: Uint8Array[] = []
  let keptBytes = 0
  let readBytes = 0
  let status: number | undefined
  let headers: (readonly [string, string])[] = []
  let firstByteMs: number | undefined
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  /** undici calls back no more: there is nothing to abort. */
  let isAnswered = false
  let onOver = (): void => undefined

  const end = (error: Sent['error'], isTruncated = false): void => {
    if (isOver) return
    isOver = true
    onOver()
    const { dialled } = line
    resolve({
      answer:
        status === undefined
          ? undefined
          : { status, headers, body: Buffer.concat(bodyParts, keptBytes), isTruncated },
      error,
      address: dialled?.address,
      timings: {
        resolveMs: dialled?.resolveMs,
        connectMs: dialled?.connectMs,
        firstByteMs,
        totalMs: performance.now() - startMs,
      },
    })
    if (!isAnswered) controller?.abort(exchangeOver)
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (started) => {
      controller = started
      if (isOver) started.abort(exchangeOver)
    },
    onResponseStart: (_, code, fields) => {
      // an interim answer announces another one
      if (code < 200) return
      firstByteMs = performance.now() - startMs
      status = code
      headers = Object.entries(fields).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value ?? '']).map((item) => [name, item] as const),
      )
    },
    onResponseData: (_, chunk) => {
      readBytes += chunk.length
      if (keptBytes < limits.keptBytes) {
        const part = chunk.subarray(0, limits.keptBytes - keptBytes)
        bodyParts.push(Uint8Array.prototype.slice.call(part))
        keptBytes += part.length
      }
      if (readBytes > limits.readBytes) end(undefined, true)
    },
    onResponseEnd: () => {
      isAnswered = true
      end(undefined, readBytes > keptBytes)
    },
    onResponseError: (_, error) => {
      isAnswered = true
      // these have no body: an error after the headers is not part of the answer
      const isWhole = status === 204 || status === 205 || status === 304
      end(isWhole ? undefined : faultOf(error), readBytes > keptBytes)
    },
  }

  return {
    sent,
    dispatch: ({ headers: fields, body, signal }: Post, url: URL): void => {
      const timer = setTimeout(
        () => end({ kind: 'timeout', detail: `no whole answer in ${limits.totalMs} ms` }),
        limits.totalMs,
      )
      const onAbort = (): void => end({ kind: 'cancelled', detail: 'the webhook changed' })
      onOver = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      line.pool.dispatch(
        { path: `${url.pathname}${url.search}`, method: 'POST', headers: fields, body },
        handler,
      )
    },
  }
}

/**
 * undici's codes for an answer that is not HTTP; its parser's errors are `HPE_…`, or have no code.
 */
const protocolCodes = new Set([
  'ANSWER_TOO_LARGE',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RESPONSE',
])

function faultOf(error: Error): NonNullable<Sent['error']> {
  if (error instanceof DialError) return { kind: error.kind, detail: error.message.slice(0, 300) }
  if (error.cause instanceof DialError) return faultOf(error.cause)
  const code = codeOf(error) ?? ''
  const detail = `${code || error.name}: ${error.message}`.slice(0, 300)
  const isProtocol =
    error.name === 'HTTPParserError' || protocolCodes.has(code) || isInterim(error.message)
  return { kind: isProtocol ? 'protocol' : 'closed', detail }
}

/** undici closes the connection on `100 Continue`, since we never request it. */
const isInterim = (message: string): boolean => message === 'bad response'
