import { Disconnected } from './errors.ts'

/** What the client does by itself. */
export type RetryBounds = {
  /** How often a request is sent again; 6 unless given. */
  readonly most?: number
  /** A server that asks for more than this is not waited for; 120,000 unless given. */
  readonly longestWaitMs?: number
}

export type Fetch = (request: Request) => Promise<Response>

const refusedForNow = new Set([429, 500, 502, 503, 504])

/** Sends a request until its whole answer has arrived, or another try is of no use. */
export function retrying(
  fetch: Fetch,
  { most = 6, longestWaitMs = 120_000 }: RetryBounds = {},
): Fetch {
  return async (request) => {
    const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key')
    for (let sent = 1; ; sent++) {
      let wait: number
      try {
        const response = await whole(await fetch(request.clone()))
        if (!refusedForNow.has(response.status) || sent > most) return response
        // 429 is said before anything was done
        if (response.status !== 429 && !isRepeatable) return response
        wait = askedForMs(response) ?? backoffMs(sent)
        if (wait > longestWaitMs) return response
      } catch (cause) {
        if (request.signal.aborted) throw cause
        if (sent > most || !isRepeatable)
          throw new Disconnected(`${request.method} ${request.url}: ${String(cause)}`, { cause })
        wait = backoffMs(sent)
      }
      await later(wait, request.signal)
    }
  }
}

/** With its body, so that a connection which breaks in the middle of it is noticed here. */
async function whole(response: Response): Promise<Response> {
  const { status, statusText, headers } = response
  const body = await response.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers })
}

/** Longer each time, and not the same for everyone. */
export const backoffMs = (sent: number): number =>
  Math.min(30_000, 500 * 2 ** (sent - 1)) * (0.5 + Math.random() / 2)

/** Ours is in seconds; that of a proxy may be a date. */
export function askedForMs({ headers }: Response): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** @throws what the signal says, if it is aborted meanwhile */
export function later(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
