/** Reads a batch's stored data for proofs (`schemas/anchoring/batch-blob.ts`). */
import { jetstreamManager } from '@nats-io/jetstream'
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

/** The data never change, so a caller may cache them, and any replica may answer that has them. */
export async function openBatchBlobs(nc: NatsConnection): Promise<BatchBlobs> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const read = async (subject: string): Promise<Uint8Array | undefined> => {
    const query = { last_by_subj: subject }
    const found =
      (await manager.direct.getMessage(blobsStream, query)) ??
      // a replica that lags does not have it yet
      (await manager.streams.getMessage(blobsStream, query))
    assertKnownHeader('blob', found?.header, subject)
    return found?.data
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
