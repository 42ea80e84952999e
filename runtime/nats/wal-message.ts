/** Which messages of a shard's `wal` are its log: records with our headers that passed the fence. */
import type { MsgHdrs } from '@nats-io/transport-node'
import { type Cursors, levelOfSource, sourceNames } from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import { assertKnownHeader, versionHeader } from '../../schemas/formats.ts'
import { walHeaders } from '../../schemas/subjects.ts'
import {
  areRecords,
  type LedgerVersion,
  readCursors,
  writtenCursors,
} from '../../schemas/webhooks/ledger-records.ts'
import { reportBroken } from '../broken.ts'
import { fenceOf, type Stored } from './stored-message.ts'

type WalHead = {
  readonly worker: string
  /** The message's number among those of its worker. */
  readonly write: number
  readonly cursors: Cursors
}

export type WalMessage = Pick<Stored, 'seq' | 'data'> & WalHead

const headerOf = (source: keyof Cursors): string => sourceRows[source].header

export function setWalHeaders(
  header: MsgHdrs,
  { worker, write, cursors }: WalHead,
  version: LedgerVersion,
): void {
  header.set(walHeaders.worker, worker)
  header.set(walHeaders.write, String(write))
  // 0.1 knows no other version, and no header for it
  if (version > 1) header.set(versionHeader, String(version))
  for (const [name, cursor] of writtenCursors(cursors, headerOf)) header.set(name, String(cursor))
}

/**
 * undefined: foreign, and reported.
 * @throws NewerFormat
 */
export function readWal(
  stream: string,
  { seq, subject, headers, data }: Omit<Stored, 'timeMs'>,
): WalMessage | undefined {
  assertKnownHeader('ledger', headers, `${stream}, message ${seq}`)
  const text = (name: string): string => headers?.get(name) ?? ''
  const worker = text(walHeaders.worker)
  const write = numberOf(text(walHeaders.write))
  const isFenced = fenceOf(headers) !== undefined
  const areCursors = sourceNames.every((source) => {
    const written = text(headerOf(source))
    return written === '' ? levelOfSource(source) > 1 : !Number.isNaN(numberOf(written))
  })
  const why =
    worker === '' || Number.isNaN(write) || !areCursors
      ? 'it does not have the headers of a ledger message'
      : !isFenced
        ? 'it was published without the fence'
        : areRecords(data)
          ? undefined
          : 'it does not hold ledger records'
  if (why === undefined) {
    const cursors = readCursors((source) => numberOf(text(headerOf(source)) || '0'))
    return { seq, data, worker, write, cursors }
  }
  reportBroken({ stream, seq, subject, why })
  return undefined
}

/** NaN if the text is not a sequence or a count. */
function numberOf(text: string): number {
  const value = text === '' ? Number.NaN : Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN
}
