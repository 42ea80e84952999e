/** Raw messages → judged batches, as an RxJS stream that holds back. */
import { concatMap, from, map, type Observable } from 'rxjs'
import { decodeRaw, isFault } from '../schemas/log/decode-raw.ts'
import type { JudgedMessage } from './decide/decide.ts'
import { type JudgeOptions, judge } from './decide/judge.ts'
import type { RawBatch } from './intake/held-raws.ts'
import { type RawMessage, type RawsAtHand, rawsAtHand } from './intake/raw-message.ts'
import type { RawSource } from './intake/raw-source.ts'

export type JudgedBatch = {
  readonly messages: readonly JudgedMessage[]
  /** The same as they came: what is refused is kept with its bytes. */
  readonly raws: RawsAtHand
}

/** A counter of batches that may be under way: taken before one is pulled, given when it is done. */
export type Credits = { readonly take: () => Promise<void>; readonly give: () => void }

export function createCredits(count: number): Credits {
  let left = count
  const waiting: (() => void)[] = []
  return {
    take: async () => {
      if (left > 0) left--
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    give: () => {
      const next = waiting.shift()
      if (next === undefined) left++
      else next()
    },
  }
}

/**
 * Batches as the credits allow: `from(asyncIterable)` alone would pull without end, however slow
 * the rest is, so the back-pressure is in the generator.
 */
export const pulledBatches = (source: RawSource, credits: Credits): Observable<RawBatch> =>
  from(
    (async function* () {
      for (;;) {
        await credits.take()
        const batch = await source.next()
        if (batch === undefined) return
        yield batch
      }
    })(),
  )

type Options = JudgeOptions & {
  /** Resolves when the registry in memory holds everything written before the call. */
  readonly registryBarrier: () => Promise<void>
}

/** Decodes and judges; before a sensor is called unknown, the registry must have caught up. */
export const judgeBatches = (options: Options) => (batches: Observable<RawBatch>) =>
  batches.pipe(
    concatMap(async (batch) => {
      const hasStranger = batch.some(({ sensor }) => options.sensorOf(sensor) === undefined)
      if (hasStranger) await options.registryBarrier()
      return batch
    }),
    map(
      (batch): JudgedBatch => ({
        messages: batch.map((raw) => decodeMessage(raw, options)),
        raws: rawsAtHand(batch),
      }),
    ),
  )

/** One raw message, decoded and judged item by item. */
export function decodeMessage(raw: RawMessage, options: JudgeOptions): JudgedMessage {
  const { seq, arrivedMs, sensor, isAgain } = raw
  const items = decodeRaw(raw.data)
  if (isFault(items)) return { seq, arrivedMs, sensor, isAgain, items: [items] }
  return {
    seq,
    arrivedMs,
    sensor,
    isAgain,
    items: items.map((item, i) =>
      judge(item, { rawSeq: seq, item: i, sensor, arrivedMs, isAgain }, options),
    ),
  }
}
