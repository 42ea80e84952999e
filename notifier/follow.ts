/** Keeps matching what the streams bring: events always, readings while somebody wants them. */
import type { SourceStream } from '../core/delivery/ledger-record.ts'
import { secondMs } from '../core/time.ts'
import { pause } from '../runtime/pause.ts'
import { NewerFormat } from '../schemas/formats.ts'
import type { Feed, FeedItem, FeedStart } from './feed.ts'
import type { Matcher } from './matcher.ts'
import type { Matched } from './resume.ts'

export type Follower = {
  /** Begins or ends the reading of READINGS, as the webhooks now ask. */
  readonly look: () => void
  readonly settled: () => Promise<void>
  /** The age of the last item matched while more wait behind it, ms; 0: all are matched. */
  readonly lagMs: (wallMs: number) => number
}

type Options = {
  readonly matcher: Matcher
  readonly openFeed: (stream: SourceStream, start: FeedStart) => Promise<Feed>
  /** As in `resume.ts`. */
  readonly resumeAfter: (stream: SourceStream, matched: Matched) => Promise<number>
  /** All that is matched at the beginning was stored before; ms of the broker. */
  readonly matchedByMs: number
  /** The stream has come back older. */
  readonly onOlder: (stream: SourceStream, cursor: number, resumedAfter: number) => void
  readonly wantsReadings: () => boolean
  /** Since when somebody may want readings. */
  readonly readersSinceMs: () => number
  /** Called before an item is matched. */
  readonly onItem: (item: FeedItem) => void
  /** Resolves when the ledger can take more. */
  readonly room: () => Promise<void>
  readonly stop: AbortSignal
  readonly onFailure: (error: unknown) => void
}

const retryMs = 250
/** So often a stream is looked at that may say nothing because it has come back older. */
const lookEveryMs = 10 * secondMs

export function followStreams(options: Options): Follower {
  const { matcher, openFeed, resumeAfter, matchedByMs, onOlder } = options
  const { wantsReadings, readersSinceMs, onItem, room, stop, onFailure } = options
  const following: Promise<void>[] = []
  let readings: AbortController | undefined
  const last: { [Stream in SourceStream]?: FeedItem } = {}

  /** How far the stream is matched, and after what to go on: the same, unless it has come back older. */
  const placeOf = async (stream: SourceStream) => {
    const cursor = matcher.cursor(stream)
    if (cursor === 0) return { cursor, after: cursor }
    const storedMs = last[stream]?.storedMs ?? matchedByMs
    return { cursor, after: await resumeAfter(stream, { cursor, storedMs }) }
  }

  const follow = async (
    stream: SourceStream,
    start: FeedStart,
    until: AbortSignal,
  ): Promise<void> => {
    await using feed = await openFeed(stream, start)
    const close = (): void => void feed[Symbol.asyncDispose]()
    until.addEventListener('abort', close, { once: true })
    const looking = setInterval(() => {
      placeOf(stream).then(({ cursor, after }) => {
        if (after !== cursor) close()
      }, onFailure)
    }, lookEveryMs)
    try {
      if (until.aborted) return
      for await (const item of feed) {
        if (until.aborted) return
        // it was opened after the cursor: the stream gives its sequences out again
        if (item.sequence <= matcher.cursor(stream)) return
        onItem(item)
        matcher.take(item)
        last[stream] = item
        await room()
      }
    } finally {
      clearInterval(looking)
      until.removeEventListener('abort', close)
    }
  }

  const keepFollowing = async (
    stream: SourceStream,
    start: FeedStart,
    until: AbortSignal,
  ): Promise<void> => {
    while (!until.aborted) {
      await goOn(stream, start, until).catch((error: unknown) => {
        // of a later version: to go on without it would lose its deliveries, so the process ends
        if (error instanceof NewerFormat) throw error
        onFailure(error)
      })
      await pause(retryMs, until)
    }
  }

  /** @param start where nothing was matched yet */
  const goOn = async (
    stream: SourceStream,
    start: FeedStart,
    until: AbortSignal,
  ): Promise<void> => {
    const { cursor, after } = await placeOf(stream)
    if (cursor === 0) return await follow(stream, start, until)
    if (until.aborted) return
    if (after !== cursor) {
      onOlder(stream, cursor, after)
      matcher.setCursor(stream, after)
    }
    await follow(stream, { sequence: after + 1 }, until)
  }

  const look = (): void => {
    if (stop.aborted || wantsReadings() === (readings !== undefined)) return
    if (readings !== undefined) {
      readings.abort()
      readings = undefined
      matcher.setCursor('readings', 0)
      return
    }
    readings = new AbortController()
    const start = { sinceMs: readersSinceMs() }
    following.push(keepFollowing('readings', start, AbortSignal.any([stop, readings.signal])))
  }

  following.push(keepFollowing('events', { sequence: 1 }, stop))
  look()
  return {
    look,
    settled: async () => {
      await Promise.all(following)
    },
    lagMs: (wallMs) =>
      Math.max(
        0,
        ...Object.values(last).map(({ pending, storedMs }) =>
          pending > 0 ? wallMs - storedMs : 0,
        ),
      ),
  }
}
