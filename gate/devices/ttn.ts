/** The Things Stack v3: what its webhook posts for an uplink. */
import { parseIso } from '../../core/iso-time.ts'
import { isObject } from './mapped.ts'
import { devEuiOf, type FieldTable, mapDecoded, type UplinkVerdict } from './uplink.ts'

/** @param body the parsed JSON of a request */
export function mapTtn(body: unknown, table: FieldTable): UplinkVerdict {
  if (!isObject(body)) return { refused: 'the body must be an object: choose the format JSON' }
  const { end_device_ids: ids, uplink_message: uplink } = body
  if (!isObject(uplink)) return { noUplink: 'only uplink messages hold readings' }
  if (body['simulated'] === true) return { noUplink: 'a simulated uplink is not a measurement' }
  const devEui = devEuiOf(isObject(ids) ? ids['dev_eui'] : undefined)
  if (devEui === undefined) return { refused: 'end_device_ids.dev_eui must be 16 hex digits' }
  // the same in every copy of an uplink, so that a copy is the same reading
  const received = uplink['received_at'] ?? body['received_at']
  const time = parseIso(typeof received === 'string' ? received : '')
  if (!('timeMs' in time)) return { refused: 'received_at must be an ISO date-time' }
  const decoded = uplink['decoded_payload']
  if (decoded === undefined || decoded === null) {
    if (uplink['frm_payload'] === undefined) return { noUplink: 'an uplink without a payload' }
    return { noUplink: 'decoded_payload is missing: give the application a payload formatter' }
  }
  return { devEui, mapped: mapDecoded(decoded, table, time.timeMs) }
}
