import type { NatsConnection } from '@nats-io/transport-node'
import { reportBroken } from '../../runtime/broken.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { lastMessage, type Stored } from '../../runtime/nats/stored-message.ts'
import { ledgerStream, manifestSubject } from '../../schemas/subjects.ts'
import { type Manifest, parseManifest } from '../../schemas/webhooks/ledger-snapshot.ts'

/**
 * The manifest of a shard's newest snapshot; undefined: there is none. Foreign messages after it
 * are ignored. @throws NewerFormat
 */
export async function lastManifest(
  nc: NatsConnection,
  shard: number,
): Promise<Manifest | undefined> {
  const stream = ledgerStream(shard)
  const subject = manifestSubject(shard)
  const last = await lastMessage(nc, stream, subject)
  if (last === undefined) return undefined
  const newest = read(stream, last)
  if (newest !== undefined) return newest
  // rare: read all stored manifests
  let readable: Manifest | undefined
  const span = { subjects: [subject], fromSeq: 1, endSeq: last.seq }
  for await (const message of readUpTo(nc, stream, span))
    readable = read(stream, message) ?? readable
  return readable
}

function read(
  stream: string,
  { seq, subject, data }: Pick<Stored, 'seq' | 'subject' | 'data'>,
): Manifest | undefined {
  const manifest = parseManifest(data)
  if (manifest === undefined) reportBroken({ stream, seq, subject, why: 'it is not a manifest' })
  return manifest
}
