/** Looks at the messages of every stream and the entries of every bucket. */
import type { NatsConnection } from '@nats-io/transport-node'
import { type Broken, onBroken } from '../../runtime/broken.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type Looked, lookAtStreams } from './doctor-streams.ts'
import { orLate } from './or-late.ts'

export type Messages = {
  readonly broken: readonly Broken[]
  readonly streams: readonly Looked[]
  /** Buckets that were looked at, and those that were not read in time. */
  readonly buckets: { readonly looked: readonly string[]; readonly closed: readonly string[] }
}

type Looking = {
  /** Every message, however long that takes; else the newest, for `withinMs`. */
  readonly isWhole: boolean
  readonly stop: AbortSignal
}

/** Within the time of a check; a bucket that we may not read gives no answer. */
const withinMs = 1_500
const wholeBucketMs = 10_000

export async function lookAtAll(nc: NatsConnection, looking: Looking): Promise<Messages> {
  const reported = new Map<string, Broken>()
  const stopListening = onBroken((entry) => {
    reported.set(`${entry.stream} ${entry.seq} ${entry.subject}`, entry)
  }, true)
  const bucketMs = looking.isWhole ? wholeBucketMs : withinMs
  const enough = looking.isWhole
    ? looking.stop
    : AbortSignal.any([looking.stop, AbortSignal.timeout(withinMs)])
  try {
    const names = Object.values(buckets)
    const [streams, isOpen] = await Promise.all([
      lookAtStreams(nc, { ...looking, enough }),
      Promise.all(names.map((name) => lookAtBucket(nc, name, bucketMs))),
    ])
    looking.stop.throwIfAborted()
    return {
      broken: [...reported.values()].toSorted(
        (a, b) => a.stream.localeCompare(b.stream) || a.seq - b.seq,
      ),
      streams,
      buckets: {
        looked: names.filter((_, at) => isOpen[at]),
        closed: names.filter((_, at) => !isOpen[at]),
      },
    }
  } finally {
    stopListening()
  }
}

/** The reader of an entry reports it where it cannot be parsed. */
async function lookAtBucket(nc: NatsConnection, name: string, lateMs: number): Promise<boolean> {
  const looking = (async () => {
    await using _ = await watchBucket(nc, name, () => undefined, { isReadOnly: true })
    return true
  })().catch(() => false)
  return (await orLate(looking, lateMs)) ?? false
}
