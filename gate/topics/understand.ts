/** What a message on a device's own topic means, and of which sensor it is. Never throws. */

import type { QuantityName } from '../../core/air/quantities.ts'
import { longestTopicMessage, parseTopic, type SpokenTopic } from '../../core/device-topics.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { DeviceIndex } from '../device-index.ts'
import { mapAirgradient } from '../devices/airgradient.ts'
import { esphomeQuantity, esphomeValue } from '../devices/esphome.ts'
import { isObject, isRefusal, type Mapped, type MappedReading } from '../devices/mapped.ts'
import { mapTasmota } from '../devices/tasmota.ts'
import { mapZigbee2mqtt } from '../devices/zigbee2mqtt.ts'

/** Why a message is left out; `nothing` and `other_quantity` are not faults. */
export type LeftReason =
  | 'unknown_device'
  | 'ambiguous_device'
  | 'too_large'
  | 'not_json'
  | 'not_understood'
  | 'nothing'
  | 'other_quantity'
  | 'repeated'

export type Understood =
  | {
      readonly kind: 'reading'
      readonly sensor: RegisteredSensor
      readonly reading: MappedReading
      /** Its particle sensor may be dead and continue to repeat its last sample. */
      readonly mayFreeze: boolean
      /** The device sends the same state again: one of a time that is already known is left out. */
      readonly mayRepeat: boolean
    }
  | {
      readonly kind: 'part'
      readonly sensor: RegisteredSensor
      readonly quantity: QuantityName
      readonly value: number
    }
  | {
      readonly kind: 'left'
      readonly reason: LeftReason
      readonly sensor?: RegisteredSensor
      /** In words, for the person who set the device up. */
      readonly why?: string
    }

export function understand(
  { subject, data }: { readonly subject: string; readonly data: Uint8Array },
  devices: DeviceIndex,
): Understood {
  const topic = parseTopic(subject)
  if (topic === undefined) return { kind: 'left', reason: 'unknown_device', why: subject }
  const sensor = devices.find(topic.kind, topic.serial)
  if (typeof sensor === 'string') return { kind: 'left', reason: sensor, why: subject }
  if (data.length > longestTopicMessage)
    return { kind: 'left', reason: 'too_large', sensor, why: `${data.length} bytes` }
  const text = new TextDecoder().decode(data)
  if (topic.kind === 'esphome') return readPart(topic.part, text, sensor)
  const body = parse(text)
  if (body === undefined) return { kind: 'left', reason: 'not_json', sensor }
  return readBody(topic, body, sensor)
}

function readPart(part: string, text: string, sensor: RegisteredSensor): Understood {
  const quantity = esphomeQuantity(part, sensor.device?.options)
  if (quantity === undefined) return { kind: 'left', reason: 'other_quantity', sensor, why: part }
  const value = esphomeValue(text)
  if (value === undefined) return { kind: 'left', reason: 'nothing', sensor, why: part }
  return { kind: 'part', sensor, quantity, value }
}

function readBody(topic: SpokenTopic, body: unknown, sensor: RegisteredSensor): Understood {
  const mapped = mapBody(topic, body)
  if (isRefusal(mapped))
    return { kind: 'left', reason: 'not_understood', sensor, why: mapped.refused }
  if (Object.keys(mapped.fields).length === 0) return { kind: 'left', reason: 'nothing', sensor }
  return {
    kind: 'reading',
    sensor,
    reading: mapped,
    mayFreeze: topic.kind === 'tasmota' && isObject(body) && 'SDS0X1' in body,
    mayRepeat: topic.kind === 'zigbee2mqtt',
  }
}

function mapBody({ kind, serial }: SpokenTopic, body: unknown): Mapped {
  switch (kind) {
    case 'airgradient':
      return mapAirgradient(body, serial)
    case 'tasmota':
      return mapTasmota(body)
    case 'zigbee2mqtt':
      return mapZigbee2mqtt(body)
    case 'esphome':
      return { refused: 'a topic of ESPHome carries one number' }
  }
}

/** @returns undefined where it is not JSON; JSON has no undefined */
function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
