/**
 * Rows above the anchored numbers: each must be what the log holds under its number, or what a
 * batch holds that was sealed meanwhile. What neither holds was never accepted.
 */

import { formatIso } from '../../core/iso-time.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { Findings } from './findings.ts'
import { type AuditedRow, headerOf, keyOf, openBlob } from './leaves.ts'

/** What the operator has, and the chain has not yet. */
export type Unanchored = {
  /** The log from a sequence on, to its end at that moment; what was trimmed is left out. */
  readonly log: (fromSeq: number) => AsyncIterable<{ readonly message: LogMessage }>
  /** The batches that are sealed, in order. */
  readonly headers: () => Promise<readonly BatchHeader[]>
}

export type PendingRows = {
  readonly add: (row: AuditedRow, leaf: Uint8Array) => void
  /** Call it once, after all rows. */
  readonly check: (unanchored: Unanchored, anchored: AnchoredTo) => Promise<void>
}

/** How far the chain goes. */
export type AnchoredTo = {
  /** The last log sequence that is anchored, and its batch; 0: none. */
  readonly last: number
  readonly index: number
  /** What arrived before should be anchored. */
  readonly dueMs: number
  /** Since when an anchor process has run, by its own report; undefined: none runs. */
  readonly anchorSinceMs: number | undefined
}

type Pending = { readonly leaf: string; readonly name: string }
type Tools = {
  readonly findings: Findings
  readonly keccak: Keccak
  readonly blobs: BatchBlobs
  /** How many rows are held in memory, about 200 bytes each. */
  readonly mostPending?: number
}

export function pendingRows({
  findings,
  keccak,
  blobs,
  mostPending = 1_000_000,
}: Tools): PendingRows {
  const rows = new Map<number, Pending>()
  let tooMany = 0
  const remove = (seq: number, leaf: string): boolean =>
    rows.get(seq)?.leaf === leaf && rows.delete(seq)

  const inLog = async (
    log: ReturnType<Unanchored['log']>,
    { dueMs, anchorSinceMs }: AnchoredTo,
  ): Promise<void> => {
    const leafOf = leafEncoder(keccak)
    let [waiting, sinceMs] = [0, Infinity]
    for await (const { message } of log) {
      for (const reading of message.readings) {
        if (!remove(reading.seq, keyOf(leafOf(reading))) || reading.arrivedMs >= dueMs) continue
        waiting++
        sinceMs = Math.min(sinceMs, reading.arrivedMs)
      }
    }
    if (waiting === 0) return
    const readings = `${waiting} readings, the first accepted at ${formatIso(sinceMs)},`
    if (anchorSinceMs !== undefined && anchorSinceMs >= dueMs)
      findings.add(
        'not_yet',
        undefined,
        `${readings} are not anchored yet: \`airproof anchor\` runs only since ${formatIso(anchorSinceMs)}`,
      )
    else
      findings.add(
        'waiting',
        undefined,
        `${readings} should be anchored and are not: is \`airproof anchor\` running?`,
      )
  }
  const inBatches = async (headers: readonly BatchHeader[]): Promise<void> => {
    for (const [seq, { leaf }] of rows) {
      const header = headerOf(headers, seq)
      if (header === undefined || typeof header === 'string') continue
      const { placeOf } = await openBlob(blobs, header)
      if ((await placeOf(Buffer.from(leaf, 'latin1'), seq)) !== undefined) rows.delete(seq)
    }
  }

  return {
    add: ({ sensor, timeMs, seq }, leaf) => {
      const name = `${sensor} ${formatIso(timeMs)}`
      const [key, former] = [keyOf(leaf), rows.get(seq)]
      if (former !== undefined && former.leaf !== key)
        findings.add('number', undefined, `${name}: ${former.name} has its number ${seq} too`)
      else if (former !== undefined || rows.size < mostPending) rows.set(seq, { leaf: key, name })
      else tooMany++
    },
    check: async ({ log, headers }, anchored) => {
      const { last, index } = anchored
      if (rows.size > 0) await inLog(log(last + 1), anchored)
      if (rows.size > 0) await inBatches((await headers()).filter((header) => header.index > index))
      for (const [seq, { name }] of rows)
        findings.add(
          'row',
          undefined,
          `${name}: its number ${seq} is above every anchored one, and the log holds no such reading`,
        )
      if (tooMany > 0)
        findings.add(
          'waiting',
          undefined,
          `${tooMany} rows are not anchored, and were too many to hold against the log: audit again when they are anchored`,
        )
    },
  }
}
