/** Raw messages → judged batches, as an RxJS stream that holds back. */
import { concatMap, from, type Observable } from 'rxjs'
import { leaf2Level } from '../core/state/border.ts'
import { inParallel } from '../runtime/in-parallel.ts'
import { decodeRaw, isFault, type RawFault } from '../schemas/log/decode-raw.ts'
import { numberTexts } from '../schemas/log/number-texts.ts'
import type { CheckSignature, SignatureVerdict } from './decide/check-signatures.ts'
import type { JudgedMessage } from './decide/decide.ts'
import { type Believed, type JudgeOptions, judge } from './decide/judge.ts'
import {
  type RawBatch,
  type RawMessage,
  type RawsAtHand,
  rawsAtHand,
} from './intake/raw-message.ts'
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
  readonly checkSignature: CheckSignature
}

/**
 * Decodes and judges; before a sensor is called unknown, or its signature bad, the registry must have
 * caught up.
 */
export const judgeBatches = (options: Options) => (batches: Observable<RawBatch>) =>
  batches.pipe(
    concatMap(async (batch): Promise<JudgedBatch> => {
      const hasStranger = batch.some(({ sensor }) => options.sensorOf(sensor) === undefined)
      if (hasStranger) await options.registryBarrier()
      return {
        messages: await judgedMessages(batch, options),
        raws: rawsAtHand(batch),
      }
    }),
  )

async function judgedMessages(
  batch: RawBatch,
  options: Options,
): Promise<readonly JudgedMessage[]> {
  // `sig` is ignored, as any other field that is not known
  if (options.level.current() < leaf2Level) return batch.map((raw) => decodeMessage(raw, options))
  const signatures = await verdictsOn(batch, options)
  const messages = batch.map((raw) => decodeMessage(raw, options, signatures))
  const bad = batch.filter((_, i) => messages[i]!.items.some(isBadSignature))
  if (bad.length === 0) return messages
  await options.registryBarrier()
  const again = await verdictsOn(bad, options)
  const places = new Map(bad.map((raw) => [raw.seq, decodeMessage(raw, options, again)]))
  return messages.map((message) => places.get(message.seq) ?? message)
}

const isBadSignature = (item: Believed | RawFault): boolean =>
  'reason' in item && item.reason === 'bad_signature'

/** Enough for the threads of libuv's pool; more would wait there in front of what else needs it. */
const mostUnderWay = 32

/** By the message's sequence in RAW and the place of the item. */
type Signatures = ReadonlyMap<number, ReadonlyMap<number, SignatureVerdict>>

/** Asks only of sensors that have keys: of the others there is nothing to check with. */
async function verdictsOn(batch: RawBatch, options: Options): Promise<Signatures> {
  const { sensorOf, checkSignature } = options
  const verdicts = new Map<number, Map<number, SignatureVerdict>>()
  const questions: (() => Promise<void>)[] = []
  for (const { seq, sensor: id, data } of batch) {
    const sensor = sensorOf(id)
    if (sensor?.keys === undefined) continue
    const items = decodeRaw(data)
    if (isFault(items) || !items.some(isSigned)) continue
    const texts = [numberTexts(new TextDecoder().decode(data))].flat()
    const ofMessage = new Map<number, SignatureVerdict>()
    verdicts.set(seq, ofMessage)
    for (const [place, item] of items.entries())
      if (isSigned(item))
        questions.push(async () => {
          ofMessage.set(place, await checkSignature(item, texts[place], sensor))
        })
  }
  await inParallel(questions, mostUnderWay, (ask) => ask())
  return verdicts
}

const isSigned = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && 'sig' in item

/**
 * One raw message, decoded and judged item by item.
 * @param signatures what is known of them; absent: `sig` is ignored
 */
export function decodeMessage(
  raw: RawMessage,
  options: JudgeOptions,
  signatures?: Signatures,
): JudgedMessage {
  const { seq, arrivedMs, sensor, isAgain } = raw
  const items = decodeRaw(raw.data)
  if (isFault(items)) return { seq, arrivedMs, sensor, isAgain, items: [items] }
  const ofMessage = signatures?.get(seq)
  const isAsked = signatures !== undefined
  return {
    seq,
    arrivedMs,
    sensor,
    isAgain,
    items: items.map((item, i) =>
      judge(
        item,
        { rawSeq: seq, item: i, sensor, arrivedMs, isAgain },
        options,
        isAsked ? { verdict: ofMessage?.get(i) } : undefined,
      ),
    ),
  }
}
