/**
 * A bucket of which there may be a million entries: a `WatchedBucket` that holds their bytes, and makes a value of
 * them when it is asked for. It begins with the bucket's image where there is one, and reads what was
 * written after it; without one it reads the bucket.
 */
import { Kvm, type KvWatchEntry } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorIdRules } from '../../../core/air/sensor-id.ts'
import type { ImageHead } from '../../../schemas/bucket-image.ts'
import { NewerFormat } from '../../../schemas/formats.ts'
import { buckets, type ImagedBucket } from '../../../schemas/subjects.ts'
import { whyOf } from '../../broken.ts'
import { ourVersion as readVersion } from '../../version.ts'
import { NoImage, readImage } from './bucket-image.ts'
import { type BeforeChange, openView, type RowView } from './bucket-view.ts'
import { type BucketFollower, followBucket } from './follow-bucket.ts'
import { type EntryKind, PackedEntries, type RecordOfEntry } from './packed-entries.ts'
import {
  entryJudge,
  type ParseEntry,
  type WatchedBucket,
  type WatchOptions,
} from './watched-bucket.ts'

export type PackedBucket<T> = Omit<WatchedBucket<T>, 'onChange'> &
  RowView<T> & {
    readonly viewedBy: <U>(parse: ParseEntry<U>) => RowView<U>
    /** What an image is made of. */
    readonly source: () => Pick<ImageHead, 'made' | 'newest'> & {
      readonly entries: PackedEntries
      readonly revision: number
    }
    /** Why the image was not used, for people; undefined: it was, or none is needed. */
    readonly imageFault: string | undefined
  }

type PackedOptions<T> = WatchOptions & {
  readonly parse: ParseEntry<T>
  /** Whether `parse` makes a value of an entry that another process of this version made one of. */
  readonly fits?: (key: string) => boolean
  /** One line for the log. */
  readonly onNotice: (line: string) => void
}

const ourVersion = readVersion()

/** With fewer entries no image is worth it. */
export const leastImaged = 1_000
/** Of the newest entries, in the head of an image. */
const newestKept = 8
const tries = 5

/**
 * Resolves when all of it is in memory.
 * @throws NewerFormat if there is an entry of a later version; if it arrives later, it ends the process
 */
export async function watchPacked<T>(
  nc: NatsConnection,
  bucket: ImagedBucket,
  options: PackedOptions<T>,
): Promise<PackedBucket<T>> {
  const { parse, fits, onNotice } = options
  const kv = await new Kvm(nc).open(bucket)
  const { streamInfo } = await kv.status()
  const judge = entryJudge(parse, options)
  const views = new Set<BeforeChange>()
  let entries = new PackedEntries()
  let newest: ImageHead['newest'] = []

  const put = (entry: KvWatchEntry): void => {
    const { key, revision } = entry
    const timeMs = entry.created.getTime()
    const isThere = entry.operation === 'PUT'
    const value = isThere ? entry.value : new Uint8Array()
    const refused = isThere ? 'refused' : 'deleted'
    const kind = isThere && judge.parsed(entry) !== undefined ? 'fine' : refused
    entries.set({ key, kind, revision, timeMs, value })
    newest = [[revision, timeMs] as const, ...newest].slice(0, newestKept)
  }
  const take = (entry: KvWatchEntry): void => {
    const reports = Array.from(views, (beforeChange) => beforeChange(entry.key))
    put(entry)
    for (const report of reports) report()
  }
  /** What an entry of an image is here: as the process that wrote it says, if that one judged as this one does. */
  const kindHere = (entry: RecordOfEntry, airproof: string): EntryKind => {
    const { kind } = entry
    if (kind === 'deleted') return kind
    const isJudged = kind === 'fine' && airproof === ourVersion
    if (isJudged && (fits === undefined || fits(entry.key))) return kind
    const { key, revision, timeMs, text } = entry
    const created = new Date(timeMs)
    const value = judge.parsed({ bucket, key, revision, created, string: text })
    return value === undefined ? 'refused' : 'fine'
  }

  const fromImage = async (): Promise<BucketFollower> => {
    const { upTo, newest: last } = await readImage(
      nc,
      bucket,
      async () => (await kv.status()).streamInfo,
      ({ airproof, shapes }) => {
        entries = new PackedEntries({ shapes, rows: streamInfo.state.messages })
        return (records) => entries.adopt(records, (entry) => kindHere(entry, airproof))
      },
    )
    newest = last
    await using opened = new AsyncDisposableStack()
    const follower = opened.use(await followBucket(kv, take, upTo))
    for (let tried = 1; ; tried++) {
      let missing: number | undefined
      await judge.opened(
        follower.barrier(({ messages, last_seq: end }) => {
          if (end === follower.revision()) missing = entries.rows - messages
        }),
      )
      if (missing === 0) break
      // a change that was replaced before we saw it does not say how many there were
      if (missing !== undefined || tried === tries)
        throw new NoImage('some of its keys are no longer in the bucket: they were purged')
    }
    opened.move()
    return follower
  }
  const fromBucket = async (): Promise<BucketFollower> => {
    entries = new PackedEntries()
    newest = []
    await using opened = new AsyncDisposableStack()
    const follower = opened.use(await followBucket(kv, take))
    await judge.opened(follower.barrier())
    opened.move()
    return follower
  }

  let imageFault: string | undefined
  let follower: BucketFollower | undefined
  if (streamInfo.state.messages >= leastImaged)
    follower = await fromImage().catch((error: unknown) => {
      if (error instanceof NewerFormat) throw error
      imageFault = whyOf(error)
      onNotice(
        `bucket ${bucket} is read entry by entry, which takes longer: of its image, ${imageFault}`,
      )
      return undefined
    })
  const following = follower ?? (await fromBucket())

  const viewedBy = <U>(parseView: ParseEntry<U>, isMain = false): RowView<U> => {
    const { view, beforeChange } = openView({ bucket, entries, parse: parseView, isMain })
    views.add(beforeChange)
    return view
  }
  const { revision, barrier } = following
  return {
    ...viewedBy(parse, true),
    viewedBy,
    isBroken: (key) => {
      const row = entries.find(key)
      return row !== -1 && entries.kindOf(row) === 'refused'
    },
    size: () => entries.fine,
    revision,
    barrier: () => barrier(),
    kv,
    imageFault,
    source: () => ({ made: String(streamInfo.created), newest, entries, revision: revision() }),
    [Symbol.asyncDispose]: () => following[Symbol.asyncDispose](),
  }
}

/**
 * The registry.
 * @param parse makes a value of an entry; undefined: it is left out
 */
export const watchSensors = async <T>(
  nc: NatsConnection,
  rules: SensorIdRules,
  parse: (
    value: unknown,
    rules: SensorIdRules,
    key: string,
    isFine: boolean,
    writtenMs: number,
  ) => T | undefined,
  onNotice: (line: string) => void,
): Promise<PackedBucket<T>> =>
  await watchPacked(nc, buckets.sensors, {
    parse: (value, key, writtenMs, isFine) => parse(value, rules, key, isFine, writtenMs),
    fits: (key) => rules.parse(key) !== undefined,
    onNotice,
  })
