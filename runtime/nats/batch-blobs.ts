/** Reads a batch's stored data for proofs (`schemas/anchoring/batch-blob.ts`). */
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type BlobTop, cutLeaves, decodeBlobTop } from '../../schemas/anchoring/batch-blob.ts'
import { assertKnownHeader } from '../../schemas/formats.ts'
import { blobsStream, blobTileSubject, blobTopSubject } from '../../schemas/subjects.ts'

export type BatchBlobs = {
  /** undefined if the batch is not sealed. @throws RangeError, NewerFormat if the bytes are not a blob that we know */
  readonly top: (index: number) => Promise<BlobTop | undefined>
  /** The leaves of one tile; undefined if there is none. @throws RangeError */
  readonly tile: (index: number, tile: number) => Promise<Uint8Array[] | undefined>
}

// nats-server errors.json; the response to a direct get has only the status
const noMessageFound = 10_037

/** The data never change, so a caller may cache them. */
export async function openBatchBlobs(nc: NatsConnection): Promise<BatchBlobs> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const read = async (subject: string): Promise<Uint8Array | undefined> => {
    try {
      const message = await manager.direct.getMessage(blobsStream, { last_by_subj: subject })
      if (message === null) return undefined
      assertKnownHeader('blob', message.header, subject)
      return message.data
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
