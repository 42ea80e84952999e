/** Raw messages → judged batches, as an RxJS stream that holds back. */
import { concatMap, from, type Observable } from 'rxjs'
import { leaf2Level } from '../core/state/border.ts'
import { spanStart } from '../runtime/trace.ts'
import { type CheckSignature, verdictsOn } from './decide/check-signatures.ts'
import {
  type Believed,
  type ItemFault,
  type JudgedMessage,
  type JudgeOptions,
  judgeMessage,
} from './decide/judge.ts'
import { type RawBatch, type RawsAtHand, rawsAtHand } from './intake/raw-message.ts'
import type { RawSource } from './intake/raw-source.ts'

export type JudgedBatch = {
  readonly messages: readonly JudgedMessage[]
  /** The same as they came: what is refused is kept with its bytes. */
  readonly raws: RawsAtHand
  /** Of `spanStart`. */
  readonly startMs: number
}

/** A counter of batches that may be under way: taken before one is pulled, given when it is done. */
export type Credits = {
  readonly take: () => Promise<void>
  readonly give: () => void
  /** Resolves when none is taken but the last. */
  readonly idle: () => Promise<void>
}

export function createCredits(count: number): Credits {
  let left = count
  const waiting: (() => void)[] = []
  let becameIdle: PromiseWithResolvers<void> | undefined
  return {
    take: async () => {
      if (left > 0) left--
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    give: () => {
      const next = waiting.shift()
      if (next !== undefined) return next()
      left++
      if (left < count - 1) return
      becameIdle?.resolve()
      becameIdle = undefined
    },
    idle: () => {
      if (left >= count - 1) return Promise.resolve()
      becameIdle ??= Promise.withResolvers()
      return becameIdle.promise
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
        const batch = await source.next(credits.idle())
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
      const startMs = spanStart()
      return {
        messages: await judgedMessages(batch, options),
        raws: rawsAtHand(batch),
        startMs,
      }
    }),
  )

async function judgedMessages(
  batch: RawBatch,
  options: Options,
): Promise<readonly JudgedMessage[]> {
  const messages = await judgedNow(batch, options)
  const bad = batch.filter((_, i) => messages[i]!.items.some(mayBeOutdated))
  if (bad.length === 0) return messages
  await options.registryBarrier()
  const again = new Map((await judgedNow(bad, options)).map((message) => [message.seq, message]))
  return messages.map((message) => again.get(message.seq) ?? message)
}

/** By the registry in memory, as it is. */
async function judgedNow(batch: RawBatch, options: Options): Promise<JudgedMessage[]> {
  // below that level `sig` is ignored, as any other field that is not known
  const isSignedLevel = options.level.current() >= leaf2Level
  const signatures = isSignedLevel ? await verdictsOn(batch, options) : undefined
  return batch.map((raw) => judgeMessage(raw, options, signatures))
}

/** The registry in memory may be. */
const mayBeOutdated = (item: Believed | ItemFault): boolean =>
  'reason' in item && (item.reason === 'bad_signature' || item.reason === 'unknown_sensor')
