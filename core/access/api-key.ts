/**
 * Keys of people, programs (`aqk_`) and sensors (`aqs_`): a prefix, 30 random base62 characters and
 * 6 check characters.
 * A secret scanner recognises the prefix; the check characters distinguish a mistyped key from an
 * unknown or revoked one without a look-up.
 */
import { crc32 } from '../crc32.ts'

export const apiKeyPrefix = 'aqk_'
export const sensorKeyPrefix = 'aqs_'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 30
const checkLength = 6
// the largest multiple of 62 that fits a byte: above it, a remainder would favour the first letters
const fairBelow = 248

/** Practically always enough random bytes (they fail for one key in 10^30). */
export const keyRandomBytes = 64

/**
 * @param randomBytes from a cryptographic source, `keyRandomBytes` of them; one in 32 is skipped
 * so that every character is equally likely
 * @throws RangeError if fewer than 30 of the bytes are usable: call again with others
 */
export function makeKey(prefix: string, randomBytes: Uint8Array): string {
  let text = prefix
  for (const byte of randomBytes) {
    if (byte < fairBelow) text += alphabet.charAt(byte % alphabet.length)
    if (text.length === prefix.length + secretLength) return text + checkOf(text)
  }
  throw new RangeError(
    `too few usable random bytes among ${randomBytes.length}: pass ${keyRandomBytes}`,
  )
}

export type KeyCheck = 'ok' | 'malformed' | 'mistyped'

/** `malformed`: not a key of this kind; `mistyped`: its form is right, its check is wrong. */
export function checkKey(prefix: string, text: string): KeyCheck {
  if (text.length !== prefix.length + secretLength + checkLength) return 'malformed'
  if (!text.startsWith(prefix)) return 'malformed'
  for (let i = prefix.length; i < text.length; i++) {
    if (!alphabet.includes(text.charAt(i))) return 'malformed'
  }
  return text.endsWith(checkOf(text.slice(0, -checkLength))) ? 'ok' : 'mistyped'
}

const utf8 = new TextEncoder()

/** CRC-32 of the text as UTF-8, in base62, padded with zeros on the left. */
function checkOf(text: string): string {
  let rest = crc32(utf8.encode(text))
  let check = ''
  for (let i = 0; i < checkLength; i++) {
    check = alphabet.charAt(rest % alphabet.length) + check
    rest = Math.floor(rest / alphabet.length)
  }
  return check
}
