/** Keeps the image of a bucket fresh, in one process at a time. */
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../../core/time.ts'
import type { ImagedBucket } from '../../../schemas/subjects.ts'
import { pause } from '../../pause.ts'
import { orNone, readImageHead, writeImage } from './bucket-image.ts'
import { leastImaged, type PackedBucket } from './packed-bucket.ts'

type Options = {
  readonly nc: NatsConnection
  readonly bucket: ImagedBucket
  readonly held: Pick<PackedBucket<unknown>, 'source' | 'imageFault'>
  readonly onFailure: (error: unknown) => void
}

const lookEveryMs = 5 * secondMs
/** Changes after the image, as a share of the entries, before it is written again: what a start reads one by one. */
const mostChanged = 1 / 20
const leastChanges = 500

/** Runs until `stop`; every failure is tried again. */
export async function keepImage(options: Options, stop: AbortSignal): Promise<void> {
  const { nc, bucket, held, onFailure } = options
  // one that was of no use to this process at its start is of none to the next one
  let isUseless = held.imageFault !== undefined
  while (!stop.aborted) {
    try {
      const { entries } = held.source()
      if (entries.rows >= leastImaged && (isUseless || (await isOld(options)))) {
        await writeImage(nc, bucket, held.source())
        isUseless = false
      }
    } catch (error) {
      if (!stop.aborted) onFailure(error)
    }
    await pause(lookEveryMs, stop)
  }
}

async function isOld({ nc, bucket, held }: Options): Promise<boolean> {
  const { entries, revision, made } = held.source()
  const stored = await readImageHead(nc, bucket).catch(orNone)
  if (stored?.head.made !== made) return true
  const changes = revision - stored.head.upTo
  return changes < 0 || changes >= Math.max(leastChanges, entries.rows * mostChanged)
}
