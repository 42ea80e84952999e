import { bytesOfBase64, publicKeyBytes } from '../../core/air/device-signature.ts'
import { parseIso } from '../../core/iso-time.ts'
import type { SensorEntry, SensorKey } from './sensor.ts'

/**
 * What is wrong with the public keys of an entry, for people, or undefined. That a key is a point of its
 * curve is checked where it is entered, and where it is used: here it would cost a ms for each sensor.
 */
export function keysFault({
  keys = [],
  signature,
}: Pick<SensorEntry, 'keys' | 'signature'>): string | undefined {
  if (signature === 'required' && keys.length === 0)
    return 'a signature is required, but there is no public key to check it with'
  return keys.map(keyFault).find((fault) => fault !== undefined)
}

function keyFault({
  algorithm,
  public_key: text,
  from,
  until,
  added_at: added,
}: SensorKey): string | undefined {
  const length = publicKeyBytes[algorithm]
  if (bytesOfBase64(text, length) === undefined)
    return `a public key of ${algorithm} is ${length} bytes in base64, and this one is not: ${text}`
  const [begins, ends] = [parseIso(from), until === undefined ? undefined : parseIso(until)]
  if (!('timeMs' in begins)) return `a key's "from" is not an ISO time with an offset: ${from}`
  if (added !== undefined && !('timeMs' in parseIso(added)))
    return `a key's "added_at" is not an ISO time with an offset: ${added}`
  if (ends === undefined) return undefined
  if (!('timeMs' in ends)) return `a key's "until" is not an ISO time with an offset: ${until}`
  return ends.timeMs < begins.timeMs ? `a key ends at ${until}, before it begins` : undefined
}
