import { createHash } from 'node:crypto'
import type { EventKind } from '../core/delivery/delivery.ts'

const digits = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * `webhook-id`: the same for every attempt, after every crash, and however the delivery was caused.
 * @param eventId of EVENTS, or the seq of a `reading.new`
 */
export function deliveryId(eventId: string, kind: EventKind, webhook: string): string {
  const hash = createHash('sha256').update(`${eventId}\n${kind}\n${webhook}`).digest()
  return `msg_${base32(hash)}`
}

/** RFC 4648 base 32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += digits[(held >> (bits - 5)) & 31] ?? ''
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + (digits[(held << (5 - bits)) & 31] ?? '') : text
}
