/** Reads and writes the image of a bucket (`schemas/bucket-image.ts`). */
import { promisify } from 'node:util'
import { constants, crc32, zstdCompress, zstdDecompress } from 'node:zlib'
import { jetstream, jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { decodeImageHead, encodeImageHead, type ImageHead } from '../../../schemas/bucket-image.ts'
import { NewerFormat } from '../../../schemas/formats.ts'
import {
  type ImagedBucket,
  imageHeadSubject,
  imagePieceSubject,
  imageStream,
} from '../../../schemas/subjects.ts'
import { ourVersion } from '../../version.ts'
import { readBatch } from '../read-batch.ts'
import { lastMessage, messageAt } from '../stored-message.ts'
import { bucketStream } from '../streams/stream-table.ts'
import type { PackedEntries } from './packed-entries.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Before compression; a single entry may be larger. */
const pieceBytes = 512 * 1024
/** What a damaged piece can make us allocate. */
const largestPieceBytes = 4 * 1024 * 1024
/** Expanded in one buffer: in the usual ones of 16 KiB a piece would be copied once more. */
const chunkSize = pieceBytes + 64 * 1024
const readAhead = { maxMessages: 64, maxBytes: 4 * 1024 * 1024 }

/** Why there is no image that can be used, for people. */
export class NoImage extends Error {}

type StoredHead = { readonly seq: number; readonly head: ImageHead }

/** @throws NoImage */
export async function readImageHead(nc: NatsConnection, bucket: ImagedBucket): Promise<StoredHead> {
  const stored = await lastMessage(nc, imageStream(bucket), imageHeadSubject(bucket))
  if (stored === undefined) throw new NoImage('there is none yet')
  const head = knownHead(stored.data)
  if (head === undefined) throw new NoImage('its head is damaged')
  return { seq: stored.seq, head }
}

/**
 * @param bucketNow its stream
 * @param begin called once, before the pieces; what it returns takes a piece, false: it holds no entries
 * @returns the revision after which the bucket itself must be read
 * @throws NoImage it is missing, damaged, or of another state of the bucket
 */
export async function readImage(
  nc: NatsConnection,
  bucket: ImagedBucket,
  bucketNow: () => Promise<Pick<StreamInfo, 'created' | 'state'>>,
  begin: (head: ImageHead) => (records: Uint8Array) => boolean,
): Promise<ImageHead> {
  const { seq: headSeq, head } = await readImageHead(nc, bucket)
  const of = await bucketNow()
  if (head.made !== String(of.created)) throw new NoImage('the bucket was made again after it')
  if (head.upTo > of.state.last_seq) throw new NoImage('the bucket has lost its end since')
  await assertSameEnd(nc, bucket, head)
  const take = begin(head)
  const firstSeq = headSeq - head.pieces.length
  for (let at = 0; at < head.pieces.length; ) {
    const stored = await readBatch(nc, imageStream(bucket), {
      ...readAhead,
      fromSeq: firstSeq + at,
      maxMessages: Math.min(readAhead.maxMessages, head.pieces.length - at),
    })
    if (stored.length === 0) throw new NoImage('its end is missing')
    for (const { seq, subject, data } of stored) {
      const isHere = seq === firstSeq + at && subject === imagePieceSubject(bucket, head.place, at)
      if (!isHere || crc32(data) !== head.pieces[at])
        throw new NoImage(`piece ${at + 1} of ${head.pieces.length} is missing or damaged`)
      const records = await decompress(data, { maxOutputLength: largestPieceBytes, chunkSize })
      if (!take(records)) throw new NoImage(`piece ${at + 1} holds no entries`)
      at++
    }
  }
  return head
}

/** A bucket whose server lost its last writes gives their revisions out again. */
async function assertSameEnd(
  nc: NatsConnection,
  bucket: ImagedBucket,
  { newest }: ImageHead,
): Promise<void> {
  for (const [revision, timeMs] of newest) {
    const entry = await messageAt(nc, bucketStream(bucket), revision)
    if (entry?.timeMs === timeMs) return
    if (entry !== undefined) throw new NoImage('the bucket has lost its end since')
  }
  throw new NoImage('it is too old: its newest entries have all changed since')
}

/** Nothing is lost with an image of a later version: all that it says is in the bucket. */
function knownHead(data: Uint8Array): ImageHead | undefined {
  try {
    return decodeImageHead(data)
  } catch (error) {
    if (error instanceof NewerFormat) throw new NoImage(error.message)
    throw error
  }
}

export function orNone(error: unknown): undefined {
  if (!(error instanceof NoImage)) throw error
}

type Source = Pick<ImageHead, 'made' | 'newest'> & {
  readonly entries: Pick<PackedEntries, 'records' | 'shapes'>
  readonly revision: number
}

/**
 * Writes an image beside the present one, which stays until the head of the new one is written: killed
 * anywhere before that, the former head and its pieces are all there. Each message expects to follow ours, so a
 * second writer ends one of the two, and never mixes with it.
 */
export async function writeImage(
  nc: NatsConnection,
  bucket: ImagedBucket,
  { made, newest, entries, revision: upTo }: Source,
): Promise<void> {
  const [js, manager] = [jetstream(nc), await jetstreamManager(nc)]
  let lastSequence = (await manager.streams.info(imageStream(bucket))).state.last_seq
  const former = await readImageHead(nc, bucket).catch(orNone)
  const place = former?.head.place === 0 ? 1 : 0
  const put = async (subject: string, data: Uint8Array | string): Promise<void> => {
    lastSequence = (await js.publish(subject, data, { expect: { lastSequence } })).seq
  }
  const pieces: number[] = []
  for (const records of entries.records(pieceBytes)) {
    const piece = await compress(records, {
      params: { [constants.ZSTD_c_compressionLevel]: 1 },
    })
    await put(imagePieceSubject(bucket, place, pieces.length), piece)
    pieces.push(crc32(piece))
  }
  // after the records: it has the shapes of all of them
  const { shapes } = entries
  const head = { made, upTo, newest, airproof: ourVersion(), shapes, place, pieces }
  await put(imageHeadSubject(bucket), encodeImageHead(head))
}
