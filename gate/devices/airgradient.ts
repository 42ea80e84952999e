/**
 * AirGradient's MQTT body, which is that of its `/measures/current`: numbers, a key left out where
 * its sensor has no valid value, no clock. The raw values are taken, as everywhere here; what the
 * firmware corrects (`…Compensated`) is one formula of several and is not kept.
 */
import { isObject, type Mapped, openDraft } from './mapped.ts'

/**
 * @param body the parsed JSON of a message
 * @param serial that of the topic; a body that names another device is refused
 */
export function mapAirgradient(body: unknown, serial: string): Mapped {
  if (!isObject(body)) return { refused: 'the body must be an object, as /measures/current shows' }
  const { serialno } = body
  if (typeof serialno === 'string' && serialno !== serial)
    return { refused: `serialno is ${serialno.slice(0, 32)}, the topic is that of ${serial}` }
  const draft = openDraft()
  draft.take('pm1', 'pm01', body['pm01'])
  draft.take('pm25', 'pm02', body['pm02'])
  draft.take('pm10', 'pm10', body['pm10'])
  draft.take('co2', 'rco2', body['rco2'])
  draft.take('temperature', 'atmp', body['atmp'])
  draft.take('humidity', 'rhum', body['rhum'])
  draft.take('voc_index', 'tvocIndex', body['tvocIndex'])
  draft.take('nox_index', 'noxIndex', body['noxIndex'])
  // just after its start it sends only its identity, which is not a fault
  return draft.end()
}
