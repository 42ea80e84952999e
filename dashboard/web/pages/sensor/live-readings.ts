/**
 * The rows of a sensor's table, which follow what happens: new readings come on top, and one that waits
 * turns when its batch is final. Few bytes: while nothing happens, an answer holds one row.
 */
import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { ask } from '../../data.ts'
import { useEvery } from '../../parts/use-every.ts'
import { getStanding } from '../proof/standing.ts'
import type { Reading, ReadingsPage } from './sensor-data.ts'

const pageSize = 25
/** Rows that come while the page is open; then it begins again with the newest. */
const mostNew = 200
const everyMs = 20_000

export type LiveReadings = {
  /** Newest first; undefined: none has come yet. */
  readonly rows: readonly Reading[] | undefined
  /** The first answer failed. */
  readonly error: unknown
  /** A later one did: the rows are as they were. */
  readonly isLate: boolean
  /** When the oldest reading that waits should be anchored, by the server's clock. */
  readonly expectedMs: number | undefined
  readonly hasMore: boolean
  readonly isAsking: boolean
  readonly again: () => void
  readonly loadMore: () => void
}

export const isWaiting = ({ blockchain: { status } }: Reading): boolean =>
  status === 'pending' || status === 'anchoring'

/** The rows with newer versions of some, each time once, newest first. */
export function merged(rows: readonly Reading[], news: readonly Reading[]): readonly Reading[] {
  const byTime = new Map([...rows, ...news].map((row) => [row.timestamp, row]))
  return [...byTime.values()].toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : -1))
}

async function getPage(query: Readonly<Record<string, string>>, signal?: AbortSignal) {
  const answer = await ask(`/data/v1/readings?${new URLSearchParams(query)}`, {
    signal: signal ?? null,
  })
  const page: ReadingsPage = await answer.json()
  return page
}

type State = Omit<LiveReadings, 'again' | 'loadMore' | 'hasMore'> & {
  readonly cursor: string | null
  /** Of the rows, those that a page brought; the others came since. */
  readonly paged: number
}

const empty: State = {
  rows: undefined,
  error: undefined,
  isLate: false,
  expectedMs: undefined,
  isAsking: true,
  cursor: null,
  paged: 0,
}

type Followed = {
  readonly news: readonly Reading[]
  readonly expectedMs: number | undefined
  /** More came than one answer holds: the rows begin again. */
  readonly isGap: boolean
}

/** What came since, and what became of the rows that waited. */
async function follow(
  id: string,
  rows: readonly Reading[],
  signal: AbortSignal,
): Promise<Followed> {
  const newest = rows[0]?.timestamp
  const since = newest === undefined ? {} : { start_time: newest }
  const page = await getPage({ sensor_id: id, limit: String(pageSize), ...since }, signal)
  const isGap = newest !== undefined && page.next_cursor !== null
  const waiting = merged(rows, page.readings).filter(isWaiting)
  const [last, oldest] = [waiting[0], waiting.at(-1)]
  if (last === undefined || oldest === undefined)
    return { news: page.readings, expectedMs: undefined, isGap }
  const standing = await getStanding({ id, timestamp: oldest.timestamp, signal })
  const expectedMs = standing.expected_by === null ? undefined : Date.parse(standing.expected_by)
  if (standing.status === oldest.blockchain.status)
    return { news: page.readings, expectedMs, isGap }
  // its batch has taken a step: all that wait are asked for again
  const turned = await getPage(
    {
      sensor_id: id,
      start_time: oldest.timestamp,
      end_time: new Date(Date.parse(last.timestamp) + 1).toISOString(),
      limit: String(mostNew),
    },
    signal,
  )
  return { news: [...page.readings, ...turned.readings], expectedMs, isGap }
}

export function useLiveReadings(id: string): LiveReadings {
  const [state, change] = useReducer<State, Partial<State>>(
    (was, part) => ({ ...was, ...part }),
    empty,
  )
  const [turn, setTurn] = useState(0)
  const again = useCallback(() => setTurn((now) => now + 1), [])
  const latest = useRef(state)
  latest.current = state
  const stop = useRef(new AbortController())
  /** One question at a time; what comes after the sensor changed is dropped. */
  const askFor = useCallback(
    <T>(
      asking: (signal: AbortSignal) => Promise<T>,
      then: (value: T) => void,
      otherwise: object,
    ) => {
      const { signal } = stop.current
      change({ isAsking: true })
      asking(signal).then(
        (value) => {
          if (signal.aborted) return
          change({ isAsking: false, isLate: false })
          then(value)
        },
        (error: unknown) => {
          if (!signal.aborted) change({ isAsking: false, ...otherwise, error })
        },
      )
    },
    [],
  )
  useEffect(() => {
    stop.current = new AbortController()
    change(empty)
    askFor(
      async (signal) => getPage({ sensor_id: id, limit: String(pageSize) }, signal),
      ({ readings, next_cursor: cursor }) =>
        change({ rows: readings, paged: readings.length, cursor, error: undefined }),
      {},
    )
    return () => stop.current.abort()
  }, [id, turn])
  const look = useCallback(() => {
    const { rows, isAsking } = latest.current
    if (rows === undefined || isAsking) return
    askFor(
      async (signal) => follow(id, rows, signal),
      ({ news, expectedMs, isGap }) => {
        const now = merged(latest.current.rows ?? [], news)
        if (isGap || now.length - latest.current.paged > mostNew) again()
        else change({ rows: now, expectedMs })
      },
      { isLate: true },
    )
  }, [id])
  useEvery(everyMs, look)
  // at once, so that a row that waits says until when
  const hasRows = state.rows !== undefined
  useEffect(() => {
    if (hasRows) look()
  }, [hasRows, look])
  const loadMore = useCallback(() => {
    const { cursor, isAsking } = latest.current
    if (cursor === null || isAsking) return
    askFor(
      async (signal) => getPage({ sensor_id: id, limit: String(2 * pageSize), cursor }, signal),
      ({ readings, next_cursor: next }) =>
        change({
          rows: merged(latest.current.rows ?? [], readings),
          paged: latest.current.paged + readings.length,
          cursor: next,
        }),
      { isLate: true },
    )
  }, [id])
  return { ...state, hasMore: state.cursor !== null, again, loadMore }
}
