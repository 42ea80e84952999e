/**
 * The ledger's log. One message holds all records gathered while the previous message was being
 * written; its PubAck is the commit. The server accepts it only if the log's last message is the
 * one that this writer expects: a process that lost the shard learns it here, before it writes
 * anything.
 *
 * Where the process may die: before the PubAck nothing was committed, and no action was taken (a
 * POST waits for its record); after it, the next owner finds the message.
 */

import type { JetStreamClient } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { Cursors, LedgerRecord } from '../../core/delivery/delivery.ts'
import { TryAgain } from '../../runtime/exit.ts'
import { findAfter } from '../../runtime/nats/find-after.ts'
import { isWrongLastSequence, type Stored } from '../../runtime/nats/stored-message.ts'
import { readWal, setWalHeaders, type WalMessage } from '../../runtime/nats/wal-message.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { ledgerStream, walSubject } from '../../schemas/subjects.ts'
import { encodeRecords, levelOfRecord, versionOf } from '../../schemas/webhooks/ledger-records.ts'

/** Another process owns the shard: stop, and let the leases decide. */
export class Fenced extends TryAgain {}

export type WalContext = {
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
  readonly onRetry: (error: unknown) => void
}

export type Wal = {
  /**
   * Adds records that must be written in one message. They count when `onCommitted` is called.
   * Without records nothing is written: the cursor is part of the next message.
   * @param cursor the records of every event up to it have been added
   */
  readonly add: (records: readonly LedgerRecord[], cursor?: Partial<Cursors>) => void
  /** Resolves when everything added so far is durable and folded, or never will be. */
  readonly settled: () => Promise<void>
  /** Records added but not yet durable. */
  readonly waiting: () => number
  /** The last message written, and the cursors in it. */
  readonly position: () => { readonly seq: number; readonly cursors: Cursors }
  /** Writes the cursors even if no record waits. */
  readonly writeCursors: () => void
}

type Options = WalContext & {
  readonly shard: number
  readonly worker: string
  readonly lastSeq: number
  readonly cursors: Cursors
  /** In the order in which they were added. */
  readonly onCommitted: (records: readonly LedgerRecord[], seconds: number) => void
  readonly onFatal: (error: unknown) => void
}

const publishTimeoutMs = 2_000
const retryMs = 250
/** A message of 480 KB. */
const mostRecords = 20_000

export function openWal(options: Options): Wal {
  const { shard, worker, js, onCommitted, onFatal } = options
  const subject = walSubject(shard)
  const added: { readonly records: readonly LedgerRecord[]; readonly cursor: Partial<Cursors> }[] =
    []
  let count = 0
  let addedCount = 0
  let foldedCount = 0
  const waiters: { readonly target: number; readonly resolve: () => void }[] = []
  let { lastSeq, cursors } = options
  let write = 0
  let writing: Promise<void> | undefined
  let areCursorsStale = false
  let hasFailed = false

  /** The content of the next message: whole additions, or part of one that is too large. */
  const gather = (): { readonly records: LedgerRecord[]; readonly cursors: Cursors } => {
    const records: LedgerRecord[] = []
    let next = cursors
    while (added[0] !== undefined) {
      const [{ records: more, cursor }] = added
      const room = mostRecords - records.length
      if (more.length > room) {
        if (records.length > 0) break
        records.push(...more.slice(0, room))
        added[0] = { records: more.slice(room), cursor }
        break
      }
      for (const record of more) records.push(record)
      next = { ...next, ...cursor }
      added.shift()
    }
    return { records, cursors: next }
  }

  const writeAll = async (): Promise<void> => {
    // additions within this turn of the event loop go into the same message
    await new Promise((resolve) => setImmediate(resolve))
    while (count > 0 || areCursorsStale) {
      const message = gather()
      areCursorsStale = false
      const startMs = performance.now()
      lastSeq = await publish(message)
      const seconds = (performance.now() - startMs) / 1_000
      cursors = message.cursors
      count -= message.records.length
      onCommitted(message.records, seconds)
      foldedCount += message.records.length
      while (waiters[0] !== undefined && waiters[0].target <= foldedCount)
        waiters.shift()?.resolve()
    }
  }

  const start = (): void => {
    if (hasFailed) return
    writing ??= writeAll()
      .catch((error: unknown) => {
        hasFailed = true
        for (const { resolve } of waiters.splice(0)) resolve()
        onFatal(error)
      })
      .finally(() => {
        writing = undefined
        // records added between the last check and now
        if (count > 0 || areCursorsStale) start()
      })
  }

  async function publish(message: ReturnType<typeof gather>): Promise<number> {
    const body = encodeRecords(message.records)
    const header = headers()
    const { records, cursors: newest } = message
    const level = records.some((record) => levelOfRecord(record) > 1) ? 2 : 1
    setWalHeaders(header, { worker, write: ++write, cursors: newest }, versionOf(newest, level))
    let expected = lastSeq
    for (;;) {
      try {
        const ack = await js.publish(subject, body, {
          headers: header,
          expect: { lastSubjectSequence: expected },
          timeout: publishTimeoutMs,
        })
        return ack.seq
      } catch (error) {
        if (isWrongLastSequence(error)) {
          const settled = await settle(write, expected)
          if ('own' in settled) return settled.own
          if (settled.expected > expected) {
            expected = settled.expected
            continue
          }
        } else options.onRetry(error)
        // a timeout proves nothing: the message may be stored, and the next attempt will show it
        if (options.stop.aborted)
          throw new TryAgain('stopped before NATS accepted the message of the ledger')
        await options.pause(retryMs)
      }
    }
  }

  /** @returns the sequence of our own message, or the one to publish after  @throws Fenced */
  async function settle(
    number: number,
    expected: number,
  ): Promise<{ readonly own: number } | { readonly expected: number }> {
    const stream = ledgerStream(shard)
    const place = { stream, subject, expected }
    const read = (stored: Stored): WalMessage | undefined => readWal(stream, stored)
    const after = await findAfter(options.nc, place, read).catch((error: unknown) => {
      // a newer version owns the shard
      if (error instanceof NewerFormat) throw error
      options.onRetry(error)
      return undefined
    })
    if (after === undefined) return { expected }
    if (after.kind === 'foreign') return { expected: after.end }
    const stored = after.kind === 'found' ? after.value : undefined
    if (stored?.worker === worker && stored.write === number) return { own: stored.seq }
    throw new Fenced(
      `shard ${shard} has another owner now (${stored?.worker ?? 'its log is gone'}): giving it up`,
    )
  }

  return {
    add: (records, cursor = {}) => {
      added.push({ records, cursor })
      count += records.length
      addedCount += records.length
      if (records.length > 0) start()
    },
    settled: async () => {
      if (foldedCount >= addedCount || writing === undefined) return
      await new Promise<void>((resolve) => waiters.push({ target: addedCount, resolve }))
    },
    waiting: () => count,
    position: () => ({ seq: lastSeq, cursors }),
    writeCursors: () => {
      areCursorsStale = true
      start()
    },
  }
}
