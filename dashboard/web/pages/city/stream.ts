/**
 * The stream of news, and how live it is. The server pings every 15 s, so silence is not taken for
 * quiet air: after 40 s without a word the connection is given up and made again.
 */
import { type Signal, signal } from '@preact/signals'
import { serverMs } from '../../parts/time/clock.ts'
import type { News } from './city-sensor.ts'

export type Line =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** No stream, but the list is asked for again and again, and is answered. */
  | { readonly state: 'polling' }
  /** Nothing comes; the numbers are those of `sinceMs`, by the server's clock. */
  | { readonly state: 'lost'; readonly sinceMs: number }

type StreamOptions = {
  readonly hear: (news: News) => void
  /**
   * Asks for the list in place of news.
   * @returns undefined if it was answered, else for how long the server wants to be left alone, ms
   */
  readonly poll: () => Promise<number | undefined>
}

export type Stream = { readonly line: Signal<Line>; readonly close: () => void }

/** Without a word for longer, a connection is dead. */
const silentMs = 40_000
const checkMs = 5_000
/** Between two polls, and two tries to get the stream, of a page that does not have it. */
const pollMs = 30_000
/** If this number in a row end before their first event, something on the way blocks streams. */
const mostWordless = 3
/** A page that nobody looks at lets go of its stream. */
const hiddenMs = 60_000

export function openStream({ hear, poll }: StreamOptions): Stream {
  const line = signal<Line>({ state: 'connecting' })
  let source: EventSource | undefined
  /** Of `performance.now()`, which a change of the computer's clock does not touch. */
  let heardAt = performance.now()
  let heardMs = serverMs()
  let tryAt = Number.POSITIVE_INFINITY
  let isPolling = false
  let hidden: ReturnType<typeof setTimeout> | undefined
  let wordless = 0

  const heard = (): void => {
    heardAt = performance.now()
    heardMs = serverMs()
  }
  const lost = (): void => {
    if (line.value.state !== 'lost') line.value = { state: 'lost', sinceMs: heardMs }
  }
  const disconnect = (): void => {
    source?.close()
    source = undefined
  }
  const pollNow = async (): Promise<void> => {
    if (isPolling) return
    isPolling = true
    const waitMs = await poll()
    isPolling = false
    if (waitMs !== undefined && source === undefined)
      tryAt = Math.max(tryAt, performance.now() + waitMs)
    if (line.value.state === 'live') return
    if (waitMs !== undefined) return lost()
    heard()
    line.value = { state: 'polling' }
  }
  /** It is refused, or silent: until it is there again, the list is news enough. */
  const givenUp = (): void => {
    disconnect()
    // readers whom one fault has cut off do not come back in one moment
    tryAt = performance.now() + pollMs * (0.8 + 0.4 * Math.random())
    void pollNow()
  }
  /** @param isAgain what came meanwhile is not sent: a new list has it */
  const connect = (isAgain: boolean): void => {
    disconnect()
    tryAt = Number.POSITIVE_INFINITY
    heardAt = performance.now()
    wordless = 0
    const own = new EventSource('/data/v1/stream')
    source = own
    own.addEventListener('open', () => {
      heard()
      wordless++
      line.value = { state: 'live' }
      if (isAgain) void pollNow()
    })
    own.addEventListener('error', () => {
      if (own !== source) return
      // else the browser connects again by itself, with the id of its last event
      if (own.readyState === EventSource.CLOSED || wordless >= mostWordless) givenUp()
      else lost()
    })
    const on = (name: string, take: (data: Told) => void): void =>
      own.addEventListener(name, ({ data }) => {
        heard()
        wordless = 0
        take(JSON.parse(data))
      })
    on('ping', () => undefined)
    on('reading', ({ sensor_id: sensor = '', timestamp = '', aqi = null }) =>
      hear({ kind: 'reading', sensor, timeMs: Date.parse(timestamp), aqi }),
    )
    for (const kind of ['online', 'offline'] as const)
      on(`sensor.${kind}`, ({ sensor_id: sensor = '' }) => hear({ kind, sensor }))
  }
  const check = (): void => {
    if (performance.now() >= tryAt) connect(true)
    else if (source !== undefined && performance.now() - heardAt > silentMs) {
      lost()
      givenUp()
    }
  }
  const followEyes = (): void => {
    clearTimeout(hidden)
    if (document.hidden) hidden = setTimeout(rest, hiddenMs)
    else if (source === undefined && tryAt === Number.POSITIVE_INFINITY) connect(true)
  }
  const rest = (): void => {
    disconnect()
    tryAt = Number.POSITIVE_INFINITY
    line.value = { state: 'connecting' }
  }
  const checks = setInterval(check, checkMs)
  document.addEventListener('visibilitychange', followEyes)
  connect(false)
  if (document.hidden) followEyes()
  return {
    line,
    close: () => {
      document.removeEventListener('visibilitychange', followEyes)
      clearInterval(checks)
      clearTimeout(hidden)
      disconnect()
    },
  }
}

/** The fields of events that are used. */
type Told = {
  readonly sensor_id?: string
  readonly timestamp?: string
  readonly aqi?: number | null
}
