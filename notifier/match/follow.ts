/** Keeps matching the items of the sources: some always, the others while a webhook wants them. */
import { type SourceName, sourceNames } from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import { secondMs } from '../../core/time.ts'
import { pause } from '../../runtime/pause.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import type { Source, SourceItem, Sources } from '../sources/source.ts'
import type { Matcher } from './matcher.ts'

export type Follower = {
  /** Starts or stops following sources, as the webhooks now require. */
  readonly look: () => void
  readonly settled: () => Promise<void>
  /** The age of the last item matched while more wait after it, ms; 0: all are matched. */
  readonly lagMs: (wallMs: number) => number
}

type Options = {
  readonly matcher: Pick<Matcher, 'take' | 'cursor' | 'setCursor'>
  readonly sources: Sources
  readonly wants: (source: SourceName) => boolean
  /** Since when a webhook may want the source, ms since the epoch. */
  readonly wantedSinceMs: (source: SourceName) => number
  readonly wallMs: () => number
  /** A source starts to be followed from a cursor that it did not have before. */
  readonly onBegun: () => void
  /** Everything that is matched at the start was stored before this time; ms of the broker. */
  readonly matchedByMs: number
  /** The source has come back older. */
  readonly onOlder: (source: SourceName, cursor: number, resumedAfter: number) => void
  /** Resolves when the ledger can take more records. */
  readonly room: () => Promise<void>
  readonly stop: AbortSignal
  readonly onFailure: (error: unknown) => void
  /** The process must end. */
  readonly onFatal: (error: unknown) => void
}

const retryMs = 250
/** How often to check a source that may send nothing because its stream has come back older. */
const lookEveryMs = 10 * secondMs

export function followSources(options: Options): Follower {
  const { matcher, sources, wants, stop } = options
  /** The sources that are followed now. */
  const followed = new Map<SourceName, AbortController>()
  const following = new Set<Promise<void>>()
  const places = new Map<SourceName, Place>()

  const begin = (name: SourceName): void => {
    const until = new AbortController()
    followed.set(name, until)
    const place: Place = { source: sources[name], matchedMs: options.matchedByMs, last: undefined }
    places.set(name, place)
    const done = keepFollowing(options, place, AbortSignal.any([stop, until.signal]))
    following.add(done)
    void done.finally(() => following.delete(done))
  }

  const end = (name: SourceName): void => {
    followed.get(name)?.abort()
    followed.delete(name)
    places.delete(name)
    matcher.setCursor(name, undefined)
  }

  const look = (): void => {
    if (stop.aborted) return
    for (const name of sourceNames) {
      const isWanted = sourceRows[name].isAlwaysFollowed || wants(name)
      if (isWanted === followed.has(name)) continue
      if (isWanted) begin(name)
      else end(name)
    }
  }

  look()
  return {
    look,
    settled: async () => void (await Promise.all(following)),
    lagMs: (wallMs) =>
      Math.max(
        0,
        ...[...places.values()].map(({ last }) =>
          last !== undefined && last.pending > 0 ? wallMs - last.storedMs : 0,
        ),
      ),
  }
}

/** How far one source is followed. */
type Place = {
  readonly source: Source
  /** Everything matched was stored at this time or before. */
  matchedMs: number
  last: SourceItem | undefined
}

/** Runs until it is stopped; if a server is away, it tries again from the cursor on. */
async function keepFollowing(options: Options, place: Place, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    try {
      const cursor = await cursorOf(options, place, until)
      if (!until.aborted) await followAfter(options, place, cursor, until)
    } catch (error) {
      // of a later version: continuing without it would lose its deliveries
      if (error instanceof NewerFormat) return options.onFatal(error)
      options.onFailure(error)
    }
    await pause(retryMs, until)
  }
}

/** Where to continue; a source that is wanted again starts where its webhooks need it. */
async function cursorOf(
  { matcher, wantedSinceMs, wallMs, onBegun, onOlder }: Options,
  place: Place,
  until: AbortSignal,
): Promise<number> {
  const { source } = place
  const { name } = source
  const cursor = matcher.cursor(name)
  if (cursor === undefined) {
    const begun = await source.cursorSince(wantedSinceMs(name))
    if (until.aborted) return begun
    // at once, not with the first item: readings still to be matched are needed from now on
    matcher.setCursor(name, begun)
    place.matchedMs = Math.max(place.matchedMs, wallMs())
    onBegun()
    return begun
  }
  if (cursor === 0) return cursor
  const after = await source.resumeAfter({ cursor, storedMs: place.matchedMs })
  if (after === cursor || until.aborted) return cursor
  onOlder(name, cursor, after)
  matcher.setCursor(name, after)
  return after
}

async function followAfter(
  { matcher, room, onFailure }: Options,
  place: Place,
  after: number,
  until: AbortSignal,
): Promise<void> {
  const { source } = place
  const older = new AbortController()
  const looking = setInterval(() => {
    const cursor = matcher.cursor(source.name) ?? 0
    if (cursor === 0) return
    source.resumeAfter({ cursor, storedMs: place.matchedMs }).then((resumed) => {
      if (resumed !== cursor) older.abort()
    }, onFailure)
  }, lookEveryMs)
  try {
    for await (const item of source.follow(after + 1, AbortSignal.any([until, older.signal]))) {
      if (until.aborted) return
      // it is followed from the cursor on: the stream assigns those sequences again
      if (item.sequence <= (matcher.cursor(source.name) ?? 0)) return
      matcher.take(item)
      place.last = item
      place.matchedMs = item.storedMs
      await room()
    }
  } finally {
    clearInterval(looking)
  }
}
