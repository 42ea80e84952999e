/**
 * The city as it is now: listed page by page, then updated by the stream. News is gathered and
 * passed on once per frame, however much arrives.
 */
import { type Signal, signal } from '@preact/signals'
import { AskError, getJson } from '../../data.ts'
import { texts } from '../../texts.ts'
import {
  afterNews,
  type CitySensor,
  fromListed,
  type ListedSensor,
  type News,
} from './city-sensor.ts'
import { type Line, openStream } from './stream.ts'

/** Of a large city a part is on show before all are listed. */
export type Listed = 'nothing' | 'part' | 'all' | Error

export type LiveCity = {
  readonly close: () => void
  readonly sensors: ReadonlyMap<string, CitySensor>
  readonly line: Signal<Line>
  /** When the newest reading of the stream was measured; 0: none has come. */
  readonly newestMs: Signal<number>
  readonly listed: Signal<Listed>
  /** Called with those that changed, at most once per frame; with undefined where all may have. */
  readonly watch: (onChange: (changed: readonly CitySensor[] | undefined) => void) => () => void
  /** Lists all again. */
  readonly again: () => void
}

type Page = { readonly sensors: readonly ListedSensor[]; readonly next_cursor: string | null }

/** A city of more sensors is shown in part. */
const mostPages = 100
const listAgainMs = 5 * 60_000
const retryMs = 5_000
/** News that are not on show yet. */
const mostWaiting = 20_000

export function openLiveCity(): LiveCity {
  const sensors = new Map<string, CitySensor>()
  const listed = signal<Listed>('nothing')
  const newestMs = signal(0)
  const watchers = new Set<(changed: readonly CitySensor[] | undefined) => void>()
  const stop = new AbortController()
  let waiting: News[] = []
  let frame = 0
  let retry: ReturnType<typeof setTimeout> | undefined

  const isShown = (): boolean => listed.value === 'part' || listed.value === 'all'
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
      if (was === undefined) {
        // its page may be on the way, and older
        if (listed.value !== 'all' && waiting.length < mostWaiting / 2) waiting.push(item)
        continue
      }
      const now = afterNews(was, item)
      if (now === was) continue
      sensors.set(item.sensor, now)
      changed.set(item.sensor, now)
    }
    if (changed.size > 0) notify([...changed.values()])
  }
  const hear = (news: News): void => {
    if (news.kind === 'reading' && news.timeMs > newestMs.value) newestMs.value = news.timeMs
    // before the list is there, and in a hidden window, there are no frames: it must not grow
    if (waiting.length >= mostWaiting) flush()
    waiting.push(news)
    if (isShown() && frame === 0) frame = requestAnimationFrame(flush)
  }
  const take = (sensor: CitySensor): void => {
    const was = sensors.get(sensor.id)
    const isOlder = was?.lastMs != null && (sensor.lastMs ?? 0) < was.lastMs
    sensors.set(sensor.id, isOlder ? { ...sensor, lastMs: was.lastMs, aqi: was.aqi } : sensor)
  }
  /** @returns undefined, or for how long the server wants to be left alone, ms */
  const list = async (): Promise<number | undefined> => {
    try {
      const gone = new Set(sensors.keys())
      let shown = 0
      for await (const page of pages(stop.signal)) {
        for (const sensor of page) {
          take(sensor)
          gone.delete(sensor.id)
        }
        // twice as many as before: in all, not more than twice the work of showing it once
        if (listed.value === 'all' || sensors.size < shown * 2) continue
        shown = sensors.size
        listed.value = 'part'
        flush()
        notify(undefined)
      }
      for (const id of gone) sensors.delete(id)
      listed.value = 'all'
      flush()
      notify(undefined)
      return undefined
    } catch (error) {
      const waitMs = Math.max(retryMs, error instanceof AskError ? error.retryAfterMs : 0)
      // what was listed stays on show
      if (stop.signal.aborted || listed.value === 'all') return waitMs
      if (!isShown())
        listed.value = error instanceof Error ? error : new Error(texts.common.states.notListed)
      clearTimeout(retry)
      retry = setTimeout(() => void list(), waitMs)
      return waitMs
    }
  }
  const stream = openStream({ hear, poll: list })
  const timer = setInterval(() => void list(), listAgainMs)
  void list()

  return {
    sensors,
    line: stream.line,
    newestMs,
    listed,
    watch: (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    again: () => {
      if (!isShown()) listed.value = 'nothing'
      clearTimeout(retry)
      void list()
    },
    close: () => {
      stop.abort()
      clearInterval(timer)
      clearTimeout(retry)
      cancelAnimationFrame(frame)
      stream.close()
    },
  }
}

async function* pages(signal: AbortSignal): AsyncGenerator<readonly CitySensor[]> {
  let cursor: string | null = ''
  for (let page = 0; page < mostPages && cursor !== null; page++) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer: Page = await getJson<Page>(`/data/v1/sensors?limit=1000${from}`, { signal })
    yield answer.sensors.map(fromListed)
    cursor = answer.next_cursor
  }
}
