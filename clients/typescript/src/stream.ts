/** Server-sent events over fetch, so that the key stays in its header, in browsers too. */
import { ApiError, Disconnected } from './errors.ts'
import { askedForMs, backoffMs, type Fetch, later } from './retry.ts'
import type { components } from './schema.ts'

type Reading = components['schemas']['Reading']
type Data = Readonly<Record<string, unknown>>

/** What the server sends; kinds that a later one may add are passed over. */
export const eventNames = [
  'reading',
  'reading.late',
  'sensor.online',
  'sensor.offline',
  'sensor.quality',
  'gap',
  'end',
] as const
type EventName = (typeof eventNames)[number]

/** `id`: given as `lastEventId`, the stream goes on after this event. */
export type StreamEvent = { readonly id: string | undefined } & (
  | { readonly event: 'reading' | 'reading.late'; readonly data: Reading }
  | { readonly event: Exclude<EventName, 'reading' | 'reading.late'>; readonly data: Data }
)

/** After these another connection may succeed; a revoked key would be refused for ever. */
const momentary: readonly unknown[] = ['interrupted', 'stopping', 'keys_unknown']
/** A ping comes every 15 seconds. */
const silenceMs = 45_000

type Options = {
  readonly fetch: Fetch
  /** @param lastEventId go on after it */
  readonly request: (lastEventId: string | undefined, signal: AbortSignal) => Request
  readonly lastEventId?: string | undefined
  readonly signal: AbortSignal
  readonly most: number
}

/** What happens, without end. After a connection that broke it goes on where it was. */
export async function* eventsOf(options: Options): AsyncGenerator<StreamEvent> {
  const { fetch, request, signal, most } = options
  let lastId = options.lastEventId
  for (let failed = 1; ; failed++) {
    // ends the connection when it is silent, and when the reader of the events stops
    const quiet = new AbortController()
    const stop = (): void => quiet.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    let timer = setTimeout(stop, silenceMs)
    let wait = backoffMs(failed)
    try {
      signal.throwIfAborted()
      const response = await fetch(request(lastId, quiet.signal))
      if (response.status !== 200 || response.body === null) {
        const refused = new ApiError(response, await response.json().catch(() => undefined))
        if (failed > most || (response.status !== 429 && response.status < 500)) throw refused
        wait = askedForMs(response) ?? wait
      } else {
        for await (const block of blocksOf(response.body)) {
          clearTimeout(timer)
          timer = setTimeout(stop, silenceMs)
          failed = 1
          lastId = block.id ?? lastId
          if (block.data === '') continue
          const data: StreamEvent['data'] = JSON.parse(block.data)
          const received = { id: lastId, event: block.event, data }
          if (!isKnown(received)) continue
          yield received
          if (received.event === 'end' && !momentary.includes(received.data['code'])) return
        }
      }
    } catch (cause) {
      if (signal.aborted || cause instanceof ApiError) throw cause
      if (failed > most) throw new Disconnected(`the stream: ${String(cause)}`, { cause })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      quiet.abort()
    }
    await later(wait, signal)
  }
}

const known: ReadonlySet<string> = new Set(eventNames)

const isKnown = (received: { readonly event: string }): received is StreamEvent =>
  known.has(received.event)

type Block = { readonly event: string; readonly data: string; readonly id: string | undefined }

/** Whole blocks only: one that broke off is sent again. */
async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Block> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) yield readBlock(block)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function readBlock(block: string): Block {
  let event = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') event = value
    else if (field === 'id') id = value
    else if (field === 'data') data.push(value)
  }
  return { event, id, data: data.join('\n') }
}
