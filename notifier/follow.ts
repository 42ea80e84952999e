/** Keeps matching what the streams bring: events always, readings while somebody wants them. */
import type { SourceStream } from '../core/delivery/ledger-record.ts'
import { pause } from '../runtime/pause.ts'
import { NewerFormat } from '../schemas/formats.ts'
import type { Feed, FeedItem, FeedStart } from './feed.ts'
import type { Matcher } from './matcher.ts'

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

export function followStreams(options: Options): Follower {
  const { matcher, openFeed, wantsReadings, readersSinceMs, onItem, room, stop, onFailure } =
    options
  const following: Promise<void>[] = []
  let readings: AbortController | undefined
  const last: { [Stream in SourceStream]?: FeedItem } = {}

  const follow = async (
    stream: SourceStream,
    start: FeedStart,
    until: AbortSignal,
  ): Promise<void> => {
    await using feed = await openFeed(stream, start)
    const close = (): void => void feed[Symbol.asyncDispose]()
    until.addEventListener('abort', close, { once: true })
    try {
      if (until.aborted) return
      for await (const item of feed) {
        if (until.aborted) return
        onItem(item)
        matcher.take(item)
        last[stream] = item
        await room()
      }
    } finally {
      until.removeEventListener('abort', close)
    }
  }

  const keepFollowing = async (
    stream: SourceStream,
    start: FeedStart,
    until: AbortSignal,
  ): Promise<void> => {
    for (let from = start; !until.aborted; ) {
      await follow(stream, from, until).catch((error: unknown) => {
        // of a later version: to go on without it would lose its deliveries, so the process ends
        if (error instanceof NewerFormat) throw error
        onFailure(error)
      })
      const cursor = matcher.cursor(stream)
      if (cursor > 0) from = { sequence: cursor + 1 }
      await pause(retryMs, until)
    }
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
    const cursor = matcher.cursor('readings')
    const start = cursor > 0 ? { sequence: cursor + 1 } : { sinceMs: readersSinceMs() }
    following.push(keepFollowing('readings', start, AbortSignal.any([stop, readings.signal])))
  }

  following.push(keepFollowing('events', { sequence: matcher.cursor('events') + 1 }, stop))
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
