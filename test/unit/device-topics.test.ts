import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import {
  clientIdsOf,
  parseTopic,
  readingTopics,
  serialFault,
  subscriptionsOf,
  topicKinds,
  topicsOf,
} from '../../core/device-topics.ts'
import { entryFault } from '../../schemas/devices/registered-sensor.ts'
import { entryOf } from '../support/pipeline.ts'

/** As NATS does: `*` one token, `>` one or more. */
function matches(pattern: string, subject: string): boolean {
  const [wanted, tokens] = [pattern.split('.'), subject.split('.')]
  if (wanted.at(-1) === '>') {
    const before = wanted.slice(0, -1)
    return tokens.length > before.length && before.every((token, i) => fits(token, tokens[i]))
  }
  return wanted.length === tokens.length && wanted.every((token, i) => fits(token, tokens[i]))
}
const fits = (token: string, other: string | undefined): boolean => token === '*' || token === other

const mayPublish = (topics: readonly string[], subject: string): boolean =>
  topics.some((topic) => matches(topic, subject))

const spoken = {
  airgradient: ['aabbccddeeff', 'airgradient.readings.aabbccddeeff'],
  tasmota: ['tasmota_0A1B2C', 'tele.tasmota_0A1B2C.SENSOR'],
  esphome: ['yard-air', 'esphome.yard-air.sensor.pm25.state'],
  zigbee2mqtt: ['home-7:0x00158d0001dc126a', 'zigbee2mqtt.home-7.0x00158d0001dc126a'],
} as const

describe('a device that fixes its own topics', () => {
  it.each(topicKinds)('%s may publish its readings, and the gate knows whose they are', (kind) => {
    const [serial, subject] = spoken[kind]
    expect(mayPublish(topicsOf({ kind, serial }), subject)).toBe(true)
    expect(readingTopics.some((topic) => matches(topic, subject))).toBe(true)
    expect(parseTopic(subject)).toMatchObject({ kind, serial })
  })

  it.each(topicKinds)('%s may not publish for another device, nor to our own subjects', (kind) => {
    const [serial] = spoken[kind]
    const topics = topicsOf({ kind, serial })
    const foreign = [
      'airgradient.readings.001122334455',
      'tele.other.SENSOR',
      'esphome.other.sensor.pm25.state',
      'zigbee2mqtt.other.0x00158d0001dc126a',
      'zigbee2mqtt.bridge.request.restart',
      'air.raw.3.NGR-LOS-IKJ-001',
      'air.readings.0',
      '$JS.API.INFO',
      'tasmota.discovery.x.config',
    ]
    expect(foreign.filter((subject) => mayPublish(topics, subject))).toEqual([])
  })

  it('has no topics, and a fault that says why, with a serial that could reach beyond it', () => {
    const dangerous = ['', '*', '>', 'a.b', 'a/b', 'a b', '#', '+', 'x'.repeat(65), 'a\u0000']
    for (const kind of topicKinds)
      for (const serial of [...dangerous, 'a:*', '>:a', 'a:b.c', ':', 'a:', ':a', 'a:b:c']) {
        expect(topicsOf({ kind, serial })).toEqual([])
        expect(serialFault({ kind, serial })).toMatch(/^the serial of a device of kind/)
      }
    expect(serialFault({ kind: 'airgradient', serial: 'AABBCCDDEEFF' })).toMatch(/lower-case/)
  })

  it('is refused by the registry with such a serial', () => {
    const entry = entryOf('NGR-LOS-IKJ-001', { device: { kind: 'airgradient', serial: 'AABB' } })
    expect(entryFault(entry, sensorIdRules())).toMatch(
      /^the serial of a device of kind airgradient/,
    )
    const device = { kind: 'airgradient', serial: 'aabbccddeeff' } as const
    expect(entryFault({ ...entry, device }, sensorIdRules())).toBeUndefined()
  })

  it('names itself, without a wildcard before its own name, whatever its serial', () => {
    fc.assert(
      fc.property(fc.constantFrom(...topicKinds), fc.string(), (kind, serial) => {
        const [name] = serial.split(':')
        for (const topic of [...topicsOf({ kind, serial }), ...subscriptionsOf({ kind, serial })]) {
          const [beforeWildcard = ''] = topic.split(/[*>]/)
          expect(`${beforeWildcard}.`).toContain(`.${name}.`)
          expect(name).toMatch(/^[A-Za-z0-9_-]+$/)
        }
      }),
    )
  })

  it('has none if its kind has none', () => {
    expect(topicsOf({ kind: 'airrohr', serial: '1234567' })).toEqual([])
    expect(serialFault({ kind: 'airrohr', serial: 'a.b' })).toBeUndefined()
  })

  it('publishes and subscribes, as a Zigbee2MQTT bridge, below its own base topic', () => {
    const bridge = { kind: 'zigbee2mqtt', serial: 'home-7:balcony' }
    const topics = topicsOf(bridge)
    for (const own of ['balcony', 'kitchen', 'kitchen.availability', 'bridge.state'])
      expect(mayPublish(topics, `zigbee2mqtt.home-7.${own}`)).toBe(true)
    for (const foreign of ['home-8.balcony', 'bridge.request.restart', 'home-7'])
      expect(mayPublish(topics, `zigbee2mqtt.${foreign}`)).toBe(false)
    expect(subscriptionsOf(bridge)).toEqual(['zigbee2mqtt.home-7', 'zigbee2mqtt.home-7.>'])
  })

  it('subscribes to nothing, as any other', () => {
    for (const kind of ['airgradient', 'tasmota', 'esphome', 'airrohr'])
      expect(subscriptionsOf({ kind, serial: 'aabbccddeeff' })).toEqual([])
  })
})

describe('the MQTT client id', () => {
  const device = { kind: 'airgradient', serial: 'aabbccddeeff' }

  it('is the sensor id, or the one that the firmware fixes and the entry names', () => {
    expect(clientIdsOf('NGR-LOS-IKJ-001')).toEqual(['NGR-LOS-IKJ-001'])
    expect(clientIdsOf('NGR-LOS-IKJ-001', device)).toEqual(['NGR-LOS-IKJ-001'])
    const fixed = { ...device, options: { client_id: 'ESP32_ddEEFF' } }
    expect(clientIdsOf('NGR-LOS-IKJ-001', fixed)).toEqual(['NGR-LOS-IKJ-001', 'ESP32_ddEEFF'])
  })

  it('is never an invalid name', () => {
    for (const client_id of ['', 'a b', '>', 'x'.repeat(65), true])
      expect(clientIdsOf('A', { ...device, options: { client_id } })).toEqual(['A'])
  })
})

it('a subject of no device belongs to none', () => {
  expect(parseTopic('air.raw.X')).toBeUndefined()
  expect(parseTopic('')).toBeUndefined()
})
