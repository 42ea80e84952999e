/** Which messages of a shard's `wal` are its log: records with our headers, through the fence. */
import type { SourceStream } from '../../core/delivery/ledger-record.ts'
import { assertKnownHeader } from '../../schemas/formats.ts'
import { walHeaders } from '../../schemas/subjects.ts'
import { areRecords } from '../../schemas/webhooks/ledger-records.ts'
import { reportBroken } from '../broken.ts'
import { fenceOf, type Stored } from './stored-message.ts'

/** How far events have become records, by stream; of READINGS 0 while nobody wants them. */
export type Cursors = { readonly [Stream in SourceStream]: number }

export type WalMessage = Pick<Stored, 'seq' | 'data'> & {
  readonly worker: string
  /** Which message of its worker's this is. */
  readonly write: number
  readonly cursors: Cursors
}

/** undefined: foreign, and reported. @throws NewerFormat */
export function readWal(
  stream: string,
  { seq, subject, headers, data }: Omit<Stored, 'timeMs'>,
): WalMessage | undefined {
  assertKnownHeader('ledger', headers, `${stream}, message ${seq}`)
  const number = (name: string): number => Number(headers?.get(name) || Number.NaN)
  const worker = headers?.get(walHeaders.worker) ?? ''
  const numbers = [walHeaders.write, walHeaders.events, walHeaders.readings].map(number)
  const [write = 0, events = 0, readings = 0] = numbers
  const areNumbers = numbers.every((value) => Number.isSafeInteger(value) && value >= 0)
  const why =
    worker === '' || !areNumbers
      ? 'it does not have the headers of a ledger message'
      : fenceOf(headers) === undefined
        ? 'it was published without the fence'
        : areRecords(data)
          ? undefined
          : 'it does not hold ledger records'
  if (why === undefined) return { seq, data, worker, write, cursors: { events, readings } }
  reportBroken({ stream, seq, subject, why })
  return undefined
}
