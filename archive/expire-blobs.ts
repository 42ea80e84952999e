/** Leaves in BLOBS of batches that the archive has: a batch after the other is purged. */
import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import { blobsOfBatch, blobsStream } from '../schemas/subjects.ts'

/** A stream that an earlier version made takes nothing back, and NATS does not let that be changed. */
export async function canPurgeBlobs(manager: JetStreamManager): Promise<boolean> {
  const { config } = await manager.streams.info(blobsStream)
  return !config.deny_purge
}

/** Killed at any point, the next call goes on with the first batch that is left. @returns batches that are gone */
export async function purgeBlobs(
  manager: JetStreamManager,
  beforeBatch: number,
  stop: AbortSignal,
): Promise<number> {
  for (let count = 0; ; count++) {
    stop.throwIfAborted()
    const first = await firstBatch(manager)
    if (first === undefined || first >= beforeBatch) return count
    await manager.streams.purge(blobsStream, { filter: blobsOfBatch(first) })
  }
}

/** The batch of the oldest message; undefined: there is none, or it is a foreign one. */
async function firstBatch(manager: JetStreamManager): Promise<number | undefined> {
  const { state } = await manager.streams.info(blobsStream)
  if (state.messages === 0) return undefined
  try {
    const message = await manager.streams.getMessage(blobsStream, { seq: state.first_seq })
    const [, index] = /^air\.blob\.(\d+)\./.exec(message?.subject ?? '') ?? []
    return index === undefined ? undefined : Number(index)
  } catch (error) {
    if (error instanceof JetStreamApiError) return undefined
    throw error
  }
}
