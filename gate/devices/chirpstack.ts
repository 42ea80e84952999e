/** ChirpStack v4: what its HTTP integration posts, with the kind of event in the address. */
import { parseIso } from '../../core/iso-time.ts'
import { isObject } from './mapped.ts'
import { devEuiOf, type FieldTable, mapDecoded, type UplinkVerdict } from './uplink.ts'

/** @param body the parsed JSON of a request @param event of the address, `?event=up` */
export function mapChirpstack(
  body: unknown,
  event: string | undefined,
  table: FieldTable,
): UplinkVerdict {
  if (event !== undefined && event !== 'up')
    return { noUplink: `only event=up holds readings, not ${event.slice(0, 20)}` }
  if (!isObject(body)) return { refused: 'the body must be an object: choose the encoding JSON' }
  const { deviceInfo: device, time: text, object: decoded } = body
  const devEui = devEuiOf(isObject(device) ? device['devEui'] : undefined)
  if (devEui === undefined)
    return { refused: 'deviceInfo.devEui must be 16 hex digits, as ChirpStack 4 sends them' }
  const time = parseIso(typeof text === 'string' ? text : '')
  if (!('timeMs' in time)) return { refused: 'time must be an ISO date-time' }
  if (decoded === undefined || decoded === null) {
    if (!body['data']) return { noUplink: 'an uplink without a payload' }
    return { noUplink: 'object is missing: give the device profile a codec' }
  }
  return { devEui, mapped: mapDecoded(decoded, table, time.timeMs) }
}
