/**
 * Zigbee2MQTT's state of a device: all it knows of it, on each change and at every start of its
 * own, however old that is. Only `last_seen` dates it, so a state without it is not a reading
 * (`last_seen: ISO_8601` in its configuration).
 */

import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import { isTimeMs, parseIso } from '../../core/iso-time.ts'
import { isObject, type Mapped, openDraft } from './mapped.ts'

/** Under our names and in our units; of a gas a state does not say its unit. */
const gases: readonly QuantityName[] = ['no2', 'o3', 'co', 'so2', 'tvoc']
const exposed = quantityNames.filter((name) => !gases.includes(name))

export const noLastSeen =
  'last_seen is missing or is not a time, and a state may be hours old: set advanced.last_seen to ISO_8601'

/** @param body the parsed JSON of a message */
export function mapZigbee2mqtt(body: unknown): Mapped {
  if (!isObject(body)) return { refused: 'the body must be an object: set advanced.output to json' }
  const timeMs = timeOf(body['last_seen'])
  if (timeMs === undefined) return { refused: noLastSeen }
  const draft = openDraft()
  for (const name of exposed) draft.take(name, name, body[name])
  return draft.end(undefined, timeMs)
}

/** ISO 8601 with an offset, or `epoch`, which is in ms. */
function timeOf(lastSeen: unknown): number | undefined {
  if (isTimeMs(lastSeen)) return lastSeen
  const parsed = parseIso(typeof lastSeen === 'string' ? lastSeen : '')
  return 'timeMs' in parsed ? parsed.timeMs : undefined
}
