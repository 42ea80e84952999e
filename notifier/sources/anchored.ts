/**
 * Source `anchored`: the log once more, each message when its batch is final on the chain. Its
 * sequences are those of READINGS; when an event in EVENTS reports a batch as final, the batch's
 * range is read.
 *
 * The anchor trims READINGS up to what is final, so messages that are not matched yet are kept by
 * `needed.notifier.*`, which is reported as soon as a webhook wants this source. The anchor waits a
 * minute between reporting a batch and trimming it (`anchor/anchoring.ts`).
 */

import { logReader } from '../../runtime/nats/log-messages.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { readingsStream, readingsSubjects } from '../../schemas/subjects.ts'
import { type FinalBatch, finalBatches } from './final-batches.ts'
import { occurrenceOfAnchored } from './payload.ts'
import { type LogReadings, matchReadings } from './readings.ts'
import type { Source, SourceContext, SourceItem } from './source.ts'

export function anchoredSource(
  { nc, sensorOf, keccak, publicUrl, stop }: SourceContext,
  readings: LogReadings,
): Source {
  const batches = finalBatches(nc, stop)

  /** The messages that READINGS holds of a batch, from a sequence on. */
  async function* itemsOf(
    { event, storedMs }: FinalBatch,
    fromSeq: number,
    endSeq: number,
  ): AsyncGenerator<SourceItem> {
    const span = {
      subjects: readingsSubjects,
      fromSeq: Math.max(fromSeq, event.first),
      endSeq: Math.min(endSeq, event.last),
      maxMessages: 4,
    }
    const read = logReader(nc)
    for await (const message of readUpTo(nc, readingsStream, span)) {
      const accepted = (await read(message))?.readings ?? []
      readings.put(message.seq, accepted)
      yield {
        source: 'anchored',
        sequence: message.seq,
        storedMs,
        pending: event.last - message.seq,
        match: (index, on) => matchReadings('reading.anchored', accepted, index, on),
      }
    }
  }

  return {
    name: 'anchored',
    async *follow(fromSeq, until) {
      for (let next = fromSeq; ; ) {
        const batch = await batches.waitFor(next, until)
        if (batch === undefined) return
        yield* itemsOf(batch, next, batch.event.last)
        next = batch.event.last + 1
      }
    },
    async *read(fromSeq, endSeq) {
      for (let next = fromSeq; next <= endSeq; ) {
        const batch = await batches.endingFrom(next)
        if (batch === undefined) return
        yield* itemsOf(batch, next, endSeq)
        next = batch.event.last + 1
      }
    },
    occurrence: async ({ kind, sequence, detail }) => {
      if (kind !== 'reading.anchored') return undefined
      const reading = (await readings.get(sequence))?.[detail]
      const batch = await batches.endingFrom(sequence)
      if (reading === undefined || batch === undefined || sequence < batch.event.first)
        return undefined
      const sensor = sensorOf(reading.sensor)
      return occurrenceOfAnchored(reading, sensor, { keccak, publicUrl, event: batch.event })
    },
    // a sequence in a final batch is never another reading, even if READINGS assigns it again
    resumeAfter: ({ cursor }) => Promise.resolve(cursor),
    cursorSince: (sinceMs) => batches.endBefore(sinceMs),
  }
}
