/** Reads what is kept of a batch for its proofs (`schemas/anchoring/batch-blob.ts`). */
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type BlobTop, cutLeaves, decodeBlobTop } from '../../schemas/anchoring/batch-blob.ts'
import { assertKnownHeader } from '../../schemas/formats.ts'
import { blobsStream, blobTileSubject, blobTopSubject } from '../../schemas/subjects.ts'

export type BatchBlobs = {
  /** undefined where the batch is not sealed. @throws RangeError, NewerFormat the bytes are not a blob that we know */
  readonly top: (index: number) => Promise<BlobTop | undefined>
  /** The leaves of one tile. undefined where there is none. @throws RangeError */
  readonly tile: (index: number, tile: number) => Promise<Uint8Array[] | undefined>
}

// nats-server errors.json; a direct get answers with the status alone
const noMessageFound = 10_037

/** What was read never changes, so whoever asks often may keep it. */
export async function openBatchBlobs(nc: NatsConnection): Promise<BatchBlobs> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const read = async (subject: string): Promise<Uint8Array | undefined> => {
    try {
      const found = await manager.direct.getMessage(blobsStream, { last_by_subj: subject })
      if (found === null) return undefined
      assertKnownHeader('blob', found.header, subject)
      return found.data
    } catch (error) {
      const isMissing =
        error instanceof JetStreamApiError &&
        (error.code === noMessageFound || error.status === 404)
      if (isMissing) return undefined
      throw error
    }
  }
  return {
    top: async (index) => {
      const bytes = await read(blobTopSubject(index))
      return bytes && decodeBlobTop(bytes)
    },
    tile: async (index, tile) => {
      const bytes = await read(blobTileSubject(index, tile))
      return bytes && cutLeaves(bytes)
    },
  }
}
