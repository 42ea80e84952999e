import { describe, expect, it } from 'vitest'
import { mapZigbee2mqtt, noLastSeen } from '../../gate/devices/zigbee2mqtt.ts'
import fixture from '../fixtures/devices-mqtt/zigbee2mqtt.json' with { type: 'json' }

describe('a Zigbee2MQTT state', () => {
  it('is a reading of the time of the device’s last message', () => {
    expect(mapZigbee2mqtt(fixture.body)).toEqual({
      fields: fixture.fields,
      ignored: [],
      timeMs: Date.parse(fixture.time),
    })
  })

  it('may name that time with an offset, or in ms', () => {
    const timeMs = Date.parse(fixture.time)
    for (const last_seen of ['2026-01-31T08:00:00+01:00', timeMs])
      expect(mapZigbee2mqtt({ ...fixture.body, last_seen })).toMatchObject({ timeMs })
  })

  it.each([undefined, null, 'N/A', '2026-01-31T07:00:00', 1.5, true, 9e15, -9e15, 1.7634e15])(
    'is refused when it may be hours old: last_seen %j',
    (last_seen) => {
      const body = { ...fixture.body, last_seen }
      expect(mapZigbee2mqtt(body)).toEqual({ refused: noLastSeen })
    },
  )

  it('of a lamp is not a fault, and not a reading', () => {
    const lamp = { state: 'ON', brightness: 254, last_seen: fixture.body.last_seen }
    expect(mapZigbee2mqtt(lamp)).toMatchObject({ fields: {} })
  })

  it.each([null, 'online', 1, []])('is refused when it is %j', (body) => {
    expect(mapZigbee2mqtt(body)).toHaveProperty('refused')
  })
})
