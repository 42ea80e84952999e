/**
 * PurpleAir's body, of `/json` and of a custom data processor: two laser counters (B's keys end in
 * `_b`), whole °F, a UTC time with slashes.
 */

import { hardRanges } from '../../core/air/quantities.ts'
import { parseIso } from '../../core/iso-time.ts'
import { celsiusOf, type Draft, isObject, type Mapped, numberOf, openDraft } from './mapped.ts'

type Body = Readonly<Record<string, unknown>>

/** @param body the parsed JSON of a request */
export function mapPurpleair(body: unknown): Mapped {
  if (!isObject(body))
    return { refused: 'the body must be an object, as /json of the device shows' }
  const draft = openDraft()
  takeChannels(draft, body, 'pm25', 'pm2_5_atm')
  takeChannels(draft, body, 'pm10', 'pm10_0_atm')
  takeChannels(draft, body, 'pm1', 'pm1_0_atm')
  takeFirst(draft, body, 'temperature', ['current_temp_f', 'current_temp_f_680'], celsiusOf)
  takeFirst(draft, body, 'humidity', ['current_humidity', 'current_humidity_680'])
  takeFirst(draft, body, 'pressure', ['pressure', 'pressure_680'])
  const timeMs = timeOf(body, draft)
  return draft.end(
    'none of pm2_5_atm, pm10_0_atm, current_temp_f, current_humidity is there',
    timeMs,
  )
}

/**
 * Channels that differ by more than both of these disagree: 5 µg/m³ and 70 % of their mean, as the
 * US EPA does before it shows a PurpleAir on its map.
 */
const apart = { ugM3: 5, ofMean: 0.7 }

function takeChannels(draft: Draft, body: Body, name: 'pm25' | 'pm10' | 'pm1', key: string): void {
  const keys = [key, `${key}_b`]
  const valid = keys.filter((channel) => isBelievable(name, body[channel]))
  for (const channel of keys)
    if (body[channel] !== undefined && body[channel] !== null && !valid.includes(channel))
      draft.ignore(channel, 'it is not a believable value of a laser')
  const [a, b] = valid.map((channel) => numberOf(body[channel]) ?? 0)
  if (a === undefined) return
  if (b === undefined) return draft.take(name, valid[0] ?? key, a)
  const mean = (a + b) / 2
  const gap = Math.abs(a - b)
  if (gap > apart.ugM3 && gap > apart.ofMean * mean)
    return draft.ignore(keys.join(', '), `the lasers disagree (${a} and ${b}): one is broken`)
  draft.take(name, key, mean)
}

function isBelievable(name: 'pm25' | 'pm10' | 'pm1', value: unknown): boolean {
  const number = numberOf(value)
  return number !== undefined && number >= 0 && number * 100 <= hardRanges[name].high
}

function takeFirst(
  draft: Draft,
  body: Body,
  name: 'temperature' | 'humidity' | 'pressure',
  keys: readonly string[],
  convert?: (value: number) => number,
): void {
  const key = keys.find((name) => body[name] !== undefined && body[name] !== null)
  if (key !== undefined) draft.take(name, key, body[key], convert)
}

/** `2026/05/17T22:23:06z`. */
function timeOf({ DateTime: text }: Body, draft: Draft): number | undefined {
  if (text === undefined) return undefined
  const time = parseIso(typeof text === 'string' ? text.replaceAll('/', '-') : '')
  if ('timeMs' in time) return time.timeMs
  draft.ignore('DateTime', 'it is not a UTC time, so the time of arrival is used')
  return undefined
}

/** `a0:b1:2:3:c4:d5` leaves out leading zeros; here without colons, 12 lower hex digits. */
export const purpleairSerialOf = (text: string): string =>
  text
    .split(':')
    .map((octet) => (text.includes(':') ? octet.padStart(2, '0') : octet))
    .join('')
    .toLowerCase()
