/**
 * Keeps what was refused, with its bytes, one message per subject: the same copy written twice
 * overwrites itself. The bytes come from memory as long as the batch is at hand, after a restart
 * and for late verdicts from RAW.
 */
import { from, lastValueFrom, mergeMap, toArray } from 'rxjs'
import type { LogMessage, Refused } from '../../core/state/log-message.ts'
import { messageAt } from '../../runtime/nats/stored-message.ts'
import { rawStream, rejectedSubject } from '../../schemas/subjects.ts'
import { itemsOf } from '../intake/item-bytes.ts'
import type { RawsAtHand } from '../intake/raw-message.ts'
import type { Log } from '../log/commit.ts'
import { keepRejected, untilTaken } from './keep-rejected.ts'
import type { RejectedBound } from './rejected-bound.ts'

const inFlight = 64
/** Reasons that are about a raw message and not about one of its items. */
const wholeMessage: ReadonlySet<string> = new Set(['not_json', 'too_large', 'too_many', 'empty'])

type Bytes = { readonly data: Uint8Array; readonly arrivedMs: number }
export type RejectedCopier = (
  message: LogMessage,
  raws: RawsAtHand,
  /** Written instead if RAW has lost the message: the reading as it was understood. */
  understood?: (refused: Refused) => unknown,
) => Promise<void>

/** Resolves when the refused items of the message that may be kept are in REJECTED; waits through outages. */
export function rejectedCopier(log: Log, bound: RejectedBound): RejectedCopier {
  return async (message, raws, understood = () => undefined) => {
    if (message.refused.length === 0) return
    // an array is taken apart once, however many of its items were refused
    const itemsOfMessage = new Map<number, readonly Uint8Array[]>()
    const bytesOf = (data: Uint8Array, { reason, rawSeq, item }: Refused): Uint8Array => {
      if (wholeMessage.has(reason)) return data
      const items = itemsOfMessage.get(rawSeq) ?? itemsOf(data)
      itemsOfMessage.set(rawSeq, items)
      return items[item] ?? data
    }
    const copyOne = async (refused: Refused): Promise<void> => {
      const raw: Bytes | undefined =
        raws(refused.rawSeq) ??
        (await untilTaken(log, async () => {
          const stored = await messageAt(log.nc, rawStream(message.partition), refused.rawSeq)
          return stored && { data: stored.data, arrivedMs: stored.timeMs }
        }))
      const bytes =
        raw === undefined
          ? encoder.encode(JSON.stringify(understood(refused) ?? null))
          : bytesOf(raw.data, refused)
      const { reason, rawSeq, item, sensor, why } = refused
      const subject = rejectedSubject(reason, message.partition, rawSeq, item, sensor)
      const arrivedMs = raw?.arrivedMs ?? message.rawLastTimeMs
      await keepRejected(log, subject, { bytes, sensor, why, arrivedMs })
      bound.kept(sensor)
    }
    const listed = message.refused.filter(({ sensor }) => bound.mayKeep(sensor))
    await lastValueFrom(from(listed).pipe(mergeMap(copyOne, inFlight), toArray()))
  }
}

const encoder = new TextEncoder()
