import type { JetStreamClient } from '@nats-io/jetstream'
import { nodeBytes } from '../../core/proof/tree.ts'
import { reportBroken } from '../../runtime/broken.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import { readStored } from '../../runtime/nats/stored-message.ts'
import { encodeBlobTop, isTopOfSame } from '../../schemas/anchoring/batch-blob.ts'
import { blobsStream, blobTileSubject, blobTopSubject } from '../../schemas/subjects.ts'
import type { BuiltContent } from './batch-content.ts'

/** Publishes waiting for the server at once: 8 KiB each. */
const atOnce = 32

/**
 * Puts a batch's blob where it stays. Its content follows from the batch's range, so a blob that
 * is there already, whole or in part, is the same one; a foreign one is reported. The top goes last:
 * where it is, all is. It keeps the header of the contract that the batch was sealed for first.
 */
export async function writeBlob(
  js: JetStreamClient,
  index: number,
  header: Uint8Array,
  { tiles, roots }: Pick<BuiltContent, 'tiles' | 'roots'>,
): Promise<void> {
  const firsts: Uint8Array[] = []
  let [leaves, waiting]: [number, Promise<void>[]] = [0, []]
  for (const tile of tiles()) {
    waiting.push(putOnce(js, blobTileSubject(index, firsts.length), tile))
    // a copy: the tile must not stay in memory
    firsts.push(Uint8Array.from(tile.subarray(0, nodeBytes)))
    leaves += tile.length / nodeBytes
    if (waiting.length < atOnce) continue
    await Promise.all(waiting)
    waiting = []
  }
  await Promise.all(waiting)
  const top = encodeBlobTop({ header, leaves, roots, firsts })
  await putOnce(js, blobTopSubject(index), top, isTopOfSame)
}

type IsSame = (one: Uint8Array, other: Uint8Array) => boolean
const isEqual: IsSame = (one, other) => Buffer.compare(one, other) === 0

async function putOnce(
  js: JetStreamClient,
  subject: string,
  bytes: Uint8Array,
  isSame = isEqual,
): Promise<void> {
  const first = { expect: { lastSubjectSequence: 0 }, timeout: 5_000 }
  const ack = await unlessOvertaken(js.publish(subject, bytes, first))
  if (ack === 'overtaken') await reportOther(js, subject, (found) => isSame(found, bytes))
}

/** The stream takes nothing back: where something else is, the batch is anchored without proofs. */
async function reportOther(
  js: JetStreamClient,
  subject: string,
  isOurs: (found: Uint8Array) => boolean,
): Promise<void> {
  const manager = await js.jetstreamManager(false)
  const stored = await readStored(manager, blobsStream, { last_by_subj: subject })
  if (stored === undefined || isOurs(stored.data)) return
  const why = 'it is not what the anchor puts there, so its batch has no proofs'
  reportBroken({ stream: blobsStream, seq: stored.seq, subject, why })
}
