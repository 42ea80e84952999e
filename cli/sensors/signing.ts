/** What a command or a list says about the public key of a sensor and about its signatures. */
import { existsSync, readFileSync } from 'node:fs'
import { parseIso } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import type { SensorSettings } from '../../operate/sensor-settings.ts'
import { type DeviceKey, readPublicKey } from '../../runtime/device-key.ts'
import { WrongUsage } from '../../runtime/exit.ts'
import type { SensorKey } from '../../schemas/devices/sensor.ts'
import type { CommandContext } from '../shell/command.ts'
import { durationFlag, textFlag } from '../shell/words.ts'

/** A device that is far away is visited within that time. */
export const defaultOverlapMs = dayMs
export const longestOverlapMs = 90 * dayMs
/** No file with a public key is longer. */
const longestFile = 8 * 1024

type Signing = Pick<SensorSettings, 'newKey' | 'signature'>

/** @throws WrongUsage */
export function signingIn(flags: CommandContext['flags'], nowMs: number): Signing {
  const text = textFlag(flags, 'public-key')
  const key = text === undefined ? undefined : deviceKeyOf(text)
  const algorithm = textFlag(flags, 'algorithm')
  if (algorithm !== undefined && algorithm !== key?.algorithm)
    throw new WrongUsage(
      key
        ? `--algorithm is ${algorithm}, but the key is of ${key.algorithm}`
        : '--algorithm says more about a --public-key, and none is given',
    )
  const [from, overlap] = [textFlag(flags, 'from'), durationFlag(flags, 'overlap')]
  if (key === undefined && (from ?? overlap) !== undefined)
    throw new WrongUsage(
      '--from and --overlap say when a --public-key becomes valid, and none is given',
    )
  if ((overlap ?? 0) > longestOverlapMs) throw new WrongUsage('--overlap is 90d at most')
  const fromMs = from === undefined ? nowMs : timeOf(from)
  return {
    newKey: key === undefined ? undefined : { key, fromMs, overlapMs: overlap ?? defaultOverlapMs },
    signature: signatureOf(textFlag(flags, 'signature')),
  }
}

/** @param text a file, the key itself, or `none` @throws WrongUsage */
export function deviceKeyOf(text: string): DeviceKey | null {
  if (text === 'none') return null
  const read = readPublicKey(
    existsSync(text) ? readFileSync(text, 'utf8').slice(0, longestFile) : text,
  )
  if (typeof read === 'string') throw new WrongUsage(`the public key "${text}": ${read}`)
  return read
}

/** @throws WrongUsage */
export function signatureOf(text: string | undefined): SensorSettings['signature'] {
  if (text === undefined || text === 'required' || text === 'optional') return text
  throw new WrongUsage(`a signature is required or optional, and not "${text}"`)
}

function timeOf(text: string): number {
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return verdict.timeMs
  throw new WrongUsage(`--from must be a time such as 2026-01-31T00:00:00Z, and is "${text}"`)
}

export const keyLine = ({ algorithm, public_key: key, from, until }: SensorKey): string =>
  `public key ${key} (${algorithm}), for readings from ${from}${until === undefined ? '' : ` to before ${until}`}`
