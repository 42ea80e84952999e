import { describe, expect, it } from 'vitest'
import { parseTopic } from '../../core/device-topics.ts'
import { esphomeQuantity, esphomeValue } from '../../gate/devices/esphome.ts'
import fixture from '../fixtures/devices-mqtt/esphome.json' with { type: 'json' }

describe('ESPHome’s topics', () => {
  it('carry what their object id says, by its usual name or by the sensor’s entry', () => {
    const found = fixture.messages.flatMap(({ topic, body }) => {
      const part = parseTopic(topic.replaceAll('/', '.'))?.part ?? ''
      const quantity = esphomeQuantity(part, fixture.options)
      const value = esphomeValue(body)
      return quantity === undefined || value === undefined ? [] : [[quantity, value]]
    })
    expect(Object.fromEntries(found)).toEqual(fixture.fields)
  })

  it('of a second sensor are skipped where the entry names the first', () => {
    expect(esphomeQuantity('temperature')).toBe('temperature')
    expect(esphomeQuantity('temperature', fixture.options)).toBeUndefined()
  })

  it.each(['nan', 'None', 'unknown', '', 'inf', '1e3', '0x1F', '22,9'])(
    'carry no value when they say "%s"',
    (payload) => expect(esphomeValue(payload)).toBeUndefined(),
  )
})
