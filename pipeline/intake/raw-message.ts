import type { Msg } from '@nats-io/transport-node'
import { againPrefix } from '../../schemas/subjects.ts'

/** What a sensor published, as its RAW stream holds it. */
export type RawMessage = {
  readonly seq: number
  /** When the broker stored it: ms since the epoch. */
  readonly arrivedMs: number
  /** The sensor, or the gateway, as the subject names it. */
  readonly sensor: string
  /** The operator sent it, not the sensor. */
  readonly isAgain: boolean
  readonly data: Uint8Array
}

export type RawBatch = readonly RawMessage[]

/** A batch is full at this many messages, whatever their bytes. */
export const batchMessages = 2_000

/** Finds what came in by its sequence; undefined where it is not at hand. */
export type RawsAtHand = (seq: number) => RawMessage | undefined

/** Over messages in the order of their sequences: few are ever looked up, so there is no map. */
export const rawsAtHand =
  (raws: readonly RawMessage[]): RawsAtHand =>
  (seq) => {
    let low = 0
    let high = raws.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((raws[middle]?.seq ?? 0) < seq) low = middle + 1
      else high = middle
    }
    const candidate = raws[low]
    return candidate?.seq === seq ? candidate : undefined
  }

export type Delivered = {
  readonly raw: RawMessage
  /** Counts the consumer's deliveries from 1: a jump means that some were lost on the way. */
  readonly delivery: number
  /** How many messages the stream holds after this one. */
  readonly pending: number
}

/**
 * Reads what JetStream says in the reply subject of a delivered message,
 * `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<tries>.<seq>.<delivery>.<ns>.<pending>[.<x>]`.
 * By position and without cutting it up: the client's own reader makes an object of ten fields a
 * message, and even the tokens would cost as much as the rest of this.
 */
export function readDelivered(
  message: Pick<Msg, 'reply' | 'subject' | 'data'>,
): Delivered | undefined {
  const { reply = '', subject, data } = message
  let tokens = 1
  for (let at = reply.indexOf('.'); at >= 0; at = reply.indexOf('.', at + 1)) tokens++
  const first = tokens === 9 ? 5 : tokens >= 11 ? 7 : -1
  if (first < 0) return undefined
  let at = 0
  for (let skipped = 0; skipped < first; skipped++) at = reply.indexOf('.', at) + 1
  const seqEnd = reply.indexOf('.', at)
  const deliveryEnd = reply.indexOf('.', seqEnd + 1)
  const nanosEnd = reply.indexOf('.', deliveryEnd + 1)
  const pendingEnd = reply.indexOf('.', nanosEnd + 1)
  return {
    raw: {
      seq: numberAt(reply, at, seqEnd),
      // nanoseconds do not fit a double: the last six digits are left out
      arrivedMs: numberAt(reply, deliveryEnd + 1, nanosEnd - 6),
      sensor: subject.slice(subject.lastIndexOf('.') + 1),
      isAgain: subject.startsWith(againPrefix),
      data,
    },
    delivery: numberAt(reply, seqEnd + 1, deliveryEnd),
    pending: numberAt(reply, nanosEnd + 1, pendingEnd < 0 ? reply.length : pendingEnd),
  }
}

/** The digits of `text` from `start` to before `end` as a number. */
function numberAt(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) value = value * 10 + (text.charCodeAt(i) - zero)
  return value
}

const zero = '0'.charCodeAt(0)
