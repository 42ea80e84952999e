/**
 * Reads the log for the projections of this process. What it has committed itself is at hand, and neither sent
 * to it again nor decoded; what is not (of other processes, of the time before) is read from NATS.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { logReader } from '../runtime/nats/log-messages.ts'
import { readBatch } from '../runtime/nats/read-batch.ts'
import { pause } from '../runtime/pause.ts'
import { NewerFormat } from '../schemas/formats.ts'
import { readingsStream } from '../schemas/subjects.ts'
import { packReadings } from '../store/packed-readings.ts'
import type { LogRows, RowsAtHand } from './rows-at-hand.ts'

/**
 * The rows of each message of the log from a sequence on, in order and without gaps, until `stop` is aborted;
 * if it was trimmed, from the first one there. A foreign message has none. Waits while NATS is unavailable.
 */
export type ReadRows = (fromSeq: number, stop: AbortSignal) => AsyncIterable<LogRows>

/** What is asked of NATS at once. */
const maxMessages = 500
const maxBytes = 2 * 1024 * 1024
/** What other processes commit is looked for as often as this. */
const lookEveryMs = 500
/** Many commits are made in this time, and are read in one go. */
const gatherMs = 100
/** After a failure. */
const againMs = 250

export const readRowsOf = (nc: NatsConnection, atHand: RowsAtHand): ReadRows =>
  async function* (fromSeq, stop) {
    const read = logReader(nc, atHand)
    let next = fromSeq
    let isAtEnd = false
    let lookMs = -Infinity
    while (!stop.aborted && !nc.isClosed()) {
      const rows = atHand.at(next)
      if (rows !== undefined) {
        yield rows
        next++
        isAtEnd = true
        continue
      }
      // to ask at once would be to wait for an answer, and to be sent what is at hand by then
      const waitMs = isAtEnd && atHand.newest < next ? lookEveryMs : lookMs - performance.now()
      if (waitMs > 0) {
        isAtEnd = await atHand.changed(waitMs, stop)
        if (isAtEnd) await pause(gatherMs, stop)
        continue
      }
      try {
        const stored = await readBatch(nc, readingsStream, {
          fromSeq: next,
          maxMessages,
          maxBytes,
          signal: stop,
        })
        for (const one of stored) {
          yield (await read(one)) ?? noRows(one.seq)
          next = one.seq + 1
          if (stop.aborted) return
        }
        isAtEnd = stored.length === 0
        // of what other processes commit, little is there at any time
        const bytes = stored.reduce((sum, { data }) => sum + data.length, 0)
        lookMs = bytes < maxBytes / 2 ? performance.now() + lookEveryMs : -Infinity
      } catch (error) {
        if (error instanceof NewerFormat) throw error
        await pause(againMs, stop)
      }
    }
  }

const noRows = (seq: number): LogRows => ({ partition: -1, seq, rows: none, faulty: [] })
const none = packReadings([])
