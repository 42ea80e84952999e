/** Keeps matching what the sources bring: some always, the others while a webhook wants them. */
import { type SourceName, sourceNames } from '../core/delivery/delivery.ts'
import { sourceRows } from '../core/delivery/event-kinds.ts'
import { pause } from '../runtime/pause.ts'
import type { Matcher } from './matcher.ts'
import type { Source, SourceItem, Sources } from './sources/source.ts'

export type Follower = {
  /** Begins or ends the reading of sources, as the webhooks now ask. */
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
  /** A source is followed from a cursor that it did not have before. */
  readonly onBegun: () => void
  /** Resolves when the ledger can take more. */
  readonly room: () => Promise<void>
  readonly stop: AbortSignal
  readonly onFailure: (error: unknown) => void
}

const retryMs = 250

export function followSources(options: Options): Follower {
  const { matcher, sources, wants, stop } = options
  /** Those that are followed now. */
  const followed = new Map<SourceName, AbortController>()
  const following = new Set<Promise<void>>()
  const last = new Map<SourceName, SourceItem>()

  const begin = (name: SourceName): void => {
    const until = new AbortController()
    followed.set(name, until)
    const keepLast = (item: SourceItem): void => void last.set(name, item)
    const done = keepFollowing(
      options,
      sources[name],
      keepLast,
      AbortSignal.any([stop, until.signal]),
    )
    following.add(done)
    void done.finally(() => following.delete(done))
  }

  const end = (name: SourceName): void => {
    followed.get(name)?.abort()
    followed.delete(name)
    last.delete(name)
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
        ...[...last.values()].map(({ pending, storedMs }) => (pending > 0 ? wallMs - storedMs : 0)),
      ),
  }
}

/** Goes on until it is stopped; where a server is away, it tries again from the cursor on. */
async function keepFollowing(
  options: Options,
  source: Source,
  onMatched: (item: SourceItem) => void,
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    try {
      await followFrom(options, source, onMatched, until)
    } catch (error) {
      options.onFailure(error)
    }
    await pause(retryMs, until)
  }
}

async function followFrom(
  { matcher, wantedSinceMs, onBegun, room }: Options,
  source: Source,
  onMatched: (item: SourceItem) => void,
  until: AbortSignal,
): Promise<void> {
  let cursor = matcher.cursor(source.name)
  if (cursor === undefined) {
    cursor = await source.cursorSince(wantedSinceMs(source.name))
    if (until.aborted) return
    // at once, and not with the first item: what is to be matched is needed from now on
    matcher.setCursor(source.name, cursor)
    onBegun()
  }
  for await (const item of source.follow(cursor + 1, until)) {
    if (until.aborted) return
    matcher.take(item)
    onMatched(item)
    await room()
  }
}
