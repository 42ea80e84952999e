/** What a command or a list says about the public key of a sensor and about its signatures. */
import { existsSync, readFileSync } from 'node:fs'
import { parseIso } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import type { SensorSettings } from '../../operate/sensor-settings.ts'
import { defaultOverlapMs, signatureOf } from '../../operate/sensor-signing.ts'
import { type DeviceKey, readPublicKey } from '../../runtime/device-key.ts'
import { WrongUsage } from '../../runtime/exit.ts'
import type { SensorEntry, SensorKey } from '../../schemas/devices/sensor.ts'
import type { CommandContext } from '../shell/command.ts'
import { durationFlag, textFlag } from '../shell/words.ts'

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

function timeOf(text: string): number {
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return verdict.timeMs
  throw new WrongUsage(`--from must be a time such as 2026-01-31T00:00:00Z, and is "${text}"`)
}

/** What a change of keys means for readings: those before it, and those to come. */
export function keysWords(before: SensorEntry, after: SensorEntry): readonly string[] {
  const inUse = ({ keys = [] }: SensorEntry): readonly SensorKey[] =>
    keys.filter(({ until }) => until === undefined)
  const [added] = inUse(after).filter((key) => !inUse(before).some((one) => isSame(one, key)))
  const ended = inUse(before).flatMap((key) => {
    const now = after.keys?.find((one) => isSame(one, key) && one.from === key.from)
    return now?.until === undefined ? [] : [{ key: key.public_key, until: now.until }]
  })
  const earlier = 'what it signed of earlier times is still accepted, also if it arrives later'
  const lines = ended.map(
    ({ key, until }) =>
      `The key ${key} is not valid from ${until} on: readings of that time or later that are signed with it are refused as bad_signature; ${earlier}.`,
  )
  if (added !== undefined)
    return [`The key ${added.public_key} is valid for readings from ${added.from} on.`, ...lines]
  if (lines.length === 0) return []
  return [
    ...lines,
    after.signature === 'required'
      ? `The sensor has no key any more and must sign, so all that it measures from then on is refused: name a new --public-key, or let it send without a signature (sensors set ${after.id} --signature optional).`
      : 'The sensor has no key any more: what it sends without a signature is accepted as not signed.',
  ]
}

const isSame = (one: SensorKey, other: SensorKey): boolean => one.public_key === other.public_key

export const keyLine = ({ algorithm, public_key: key, from, until }: SensorKey): string =>
  `public key ${key} (${algorithm}), for readings from ${from}${until === undefined ? '' : ` to before ${until}`}`
