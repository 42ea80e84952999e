/**
 * The city as it is now: listed once, then updated by the stream. News is gathered and passed on
 * once per frame, however much arrives.
 */
import { type Signal, signal } from '@preact/signals'
import { getJson } from '../../data.ts'
import {
  afterNews,
  type CitySensor,
  fromListed,
  type ListedSensor,
  type News,
} from './city-sensor.ts'

export type Line =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** The stream is away; the numbers are those of `sinceMs`. */
  | { readonly state: 'lost'; readonly sinceMs: number }

export type LiveCity = {
  readonly close: () => void
  readonly sensors: ReadonlyMap<string, CitySensor>
  readonly line: Signal<Line>
  /** undefined until the sensors were listed for the first time. */
  readonly listed: Signal<boolean | Error>
  /** Called with those that changed, at most once per frame; with undefined where all may have. */
  readonly watch: (onChange: (changed: readonly CitySensor[] | undefined) => void) => () => void
  /** Lists all again. */
  readonly again: () => void
}

type Page = { readonly sensors: readonly ListedSensor[]; readonly next_cursor: string | null }

/** A city of more sensors is shown in part. */
const mostPages = 20
const listAgainMs = 5 * 60_000
const retryMs = 5_000

export function openLiveCity(): LiveCity {
  const sensors = new Map<string, CitySensor>()
  const line = signal<Line>({ state: 'connecting' })
  const listed = signal<boolean | Error>(false)
  const watchers = new Set<(changed: readonly CitySensor[] | undefined) => void>()
  const stop = new AbortController()
  let waiting: News[] = []
  let frame = 0
  let retry: ReturnType<typeof setTimeout> | undefined

  const notify = (changed: readonly CitySensor[] | undefined): void => {
    for (const watcher of watchers) watcher(changed)
  }
  const flush = (): void => {
    frame = 0
    const news = waiting
    waiting = []
    const changed = new Map<string, CitySensor>()
    for (const item of news) {
      const was = sensors.get(item.sensor)
      if (was === undefined) continue
      const now = afterNews(was, item)
      if (now === was) continue
      sensors.set(item.sensor, now)
      changed.set(item.sensor, now)
    }
    if (changed.size > 0) notify([...changed.values()])
  }
  const hear = (news: News): void => {
    // before the list is there, and in a hidden window, there are no frames: it must not grow
    if (waiting.length > 20_000) flush()
    waiting.push(news)
    if (listed.value === true && frame === 0) frame = requestAnimationFrame(flush)
  }
  const list = async (): Promise<void> => {
    try {
      const all = await listAll(stop.signal)
      const gone = new Set(sensors.keys())
      for (const sensor of all) {
        const was = sensors.get(sensor.id)
        const isOlder = was?.lastMs != null && (sensor.lastMs ?? 0) < was.lastMs
        sensors.set(sensor.id, isOlder ? { ...sensor, lastMs: was.lastMs, aqi: was.aqi } : sensor)
        gone.delete(sensor.id)
      }
      for (const id of gone) sensors.delete(id)
      listed.value = true
      flush()
      notify(undefined)
    } catch (error) {
      if (stop.signal.aborted) return
      if (listed.value === true) return
      listed.value = error instanceof Error ? error : new Error('The sensors cannot be listed.')
      clearTimeout(retry)
      retry = setTimeout(() => void list(), retryMs)
    }
  }
  const closeStream = openStream({ hear, line })
  const timer = setInterval(() => void list(), listAgainMs)
  void list()

  return {
    sensors,
    line,
    listed,
    watch: (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    again: () => {
      listed.value = false
      clearTimeout(retry)
      void list()
    },
    close: () => {
      stop.abort()
      clearInterval(timer)
      clearTimeout(retry)
      cancelAnimationFrame(frame)
      closeStream()
    },
  }
}

async function listAll(signal: AbortSignal): Promise<readonly CitySensor[]> {
  const all: CitySensor[] = []
  let cursor: string | null = ''
  for (let page = 0; page < mostPages && cursor !== null; page++) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer: Page = await getJson<Page>(`/data/v1/sensors?limit=1000${from}`, { signal })
    for (const sensor of answer.sensors) all.push(fromListed(sensor))
    cursor = answer.next_cursor
  }
  return all
}

type StreamOptions = { readonly hear: (news: News) => void; readonly line: Signal<Line> }

/** The browser reconnects by itself with its last event id; after a final refusal we try again. */
function openStream({ hear, line }: StreamOptions): () => void {
  let source: EventSource | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  const lost = (): void => {
    if (line.value.state !== 'lost') line.value = { state: 'lost', sinceMs: Date.now() }
  }
  const connect = (): void => {
    source = new EventSource('/data/v1/stream')
    source.addEventListener('open', () => {
      line.value = { state: 'live' }
    })
    source.addEventListener('error', () => {
      lost()
      if (source?.readyState !== EventSource.CLOSED) return
      clearTimeout(retry)
      retry = setTimeout(connect, retryMs)
    })
    source.addEventListener('reading', ({ data }) => {
      const { sensor_id: sensor, timestamp, aqi } = JSON.parse(data)
      hear({ kind: 'reading', sensor, timeMs: Date.parse(timestamp), aqi })
    })
    for (const kind of ['online', 'offline'] as const) {
      source.addEventListener(`sensor.${kind}`, ({ data }) => {
        hear({ kind, sensor: JSON.parse(data).sensor_id })
      })
    }
  }
  connect()
  return () => {
    clearTimeout(retry)
    source?.close()
  }
}
