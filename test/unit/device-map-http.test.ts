import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromHundredths, toHundredths } from '../../core/air/hundredths.ts'
import { formatIso } from '../../core/iso-time.ts'
import { mapAirrohr } from '../../gate/devices/airrohr.ts'
import { mapChirpstack } from '../../gate/devices/chirpstack.ts'
import { isRefusal, type Mapped } from '../../gate/devices/mapped.ts'
import { mapPurpleair, purpleairSerialOf } from '../../gate/devices/purpleair.ts'
import { mapSensorCommunity } from '../../gate/devices/sensor-community.ts'
import { mapTtn } from '../../gate/devices/ttn.ts'
import type { FieldTable, UplinkVerdict } from '../../gate/devices/uplink.ts'
import { chipIdOf } from '../../gate/devices/value-list.ts'
import airrohr from '../fixtures/devices/airrohr.json' with { type: 'json' }
import chirpstack from '../fixtures/devices/chirpstack.json' with { type: 'json' }
import purpleair from '../fixtures/devices/purpleair.json' with { type: 'json' }
import sensorCommunity from '../fixtures/devices/sensor-community.json' with { type: 'json' }
import ttn from '../fixtures/devices/ttn.json' with { type: 'json' }

type Expected = {
  readonly name: string
  readonly fields?: Readonly<Record<string, number>>
  readonly timestamp?: string
  readonly ignored?: readonly string[]
}

/** As the gate publishes them: two decimals. */
function shown(mapped: Mapped) {
  if (isRefusal(mapped)) return mapped
  const fields = Object.entries(mapped.fields).map(([name, value]) => [
    name,
    fromHundredths(toHundredths(value) ?? Number.NaN),
  ])
  return {
    fields: Object.fromEntries(fields),
    timestamp: mapped.timeMs === undefined ? undefined : formatIso(mapped.timeMs),
    ignored: mapped.ignored.map(({ key }) => key),
  }
}

const expectedOf = ({ fields, timestamp, ignored }: Expected) => ({ fields, timestamp, ignored })

/** A part of the sentence is enough. */
const wantedUplink = (
  wanted: Expected & { noUplink?: string; refused?: string; devEui?: string },
) => {
  if (wanted.noUplink !== undefined) return { noUplink: expect.stringContaining(wanted.noUplink) }
  if (wanted.refused !== undefined) return { refused: expect.stringContaining(wanted.refused) }
  return { devEui: wanted.devEui, ...expectedOf(wanted) }
}

const shownUplink = (verdict: UplinkVerdict) =>
  'devEui' in verdict ? { devEui: verdict.devEui, ...shown(verdict.mapped) } : verdict

describe('airRohr', () => {
  test.each(airrohr.messages)('$name', (message) => {
    expect(shown(mapAirrohr(message.body))).toEqual(expectedOf(message))
  })
  test('a PM2.5 is P2 and a PM10 is P1, whichever sensor it is', () => {
    for (const sensor of ['SDS', 'PMS', 'SPS30', 'HPM', 'NPM', 'IPS']) {
      const list = [1, 2].map((n) => ({ value_type: `${sensor}_P${n}`, value: `${n}.50` }))
      const mapped = mapAirrohr({ sensordatavalues: list })
      expect(mapped).toMatchObject({ fields: { pm10: 1.5, pm25: 2.5 } })
    }
  })
})

describe('sensor.community', () => {
  test.each(sensorCommunity.messages)('$name', (message) => {
    expect(shown(mapSensorCommunity(message.body, message.pin))).toEqual(expectedOf(message))
  })
  test('without X-PIN it is not known whether P1 is a count', () => {
    expect(mapSensorCommunity(sensorCommunity.messages[0]?.body, undefined)).toEqual({
      refused: expect.stringContaining('X-PIN'),
    })
  })
})

describe('PurpleAir', () => {
  test.each(purpleair.messages)('$name', (message) => {
    expect(shown(mapPurpleair(message.body))).toEqual(expectedOf(message))
  })
  test('a body without one of our values is refused', () => {
    expect(mapPurpleair({ SensorId: 'a' })).toEqual({ refused: expect.stringContaining('pm2_5') })
  })
  test('leading zeros that it leaves out do not make another device', () => {
    expect(purpleairSerialOf('a0:b1:2:3:c4:d5')).toBe('a0b10203c4d5')
    expect(purpleairSerialOf('A0:B1:02:03:C4:D5')).toBe('a0b10203c4d5')
    expect(purpleairSerialOf('A0B10203C4D5')).toBe('a0b10203c4d5')
  })
})

describe('The Things Stack', () => {
  test.each(ttn.messages)('$name', (message) => {
    const verdict = mapTtn(message.body, message.table as FieldTable)
    expect(shownUplink(verdict)).toEqual(wantedUplink(message as Expected))
  })
})

describe('ChirpStack', () => {
  test.each(chirpstack.messages)('$name', (message) => {
    const table = message.table as FieldTable
    const verdict = mapChirpstack(message.body, message.event, table)
    expect(shownUplink(verdict)).toEqual(wantedUplink(message as Expected))
  })
})

test('a chip has one name with and without its prefix', () => {
  expect(chipIdOf('esp8266-1234567')).toBe(chipIdOf('1234567'))
  expect(chipIdOf('esp32-8CAAB5A1B2C4')).toBe(chipIdOf('8caab5a1b2c4'))
})

const maps: readonly ((body: unknown) => unknown)[] = [
  mapAirrohr,
  (body) => mapSensorCommunity(body, '1'),
  mapPurpleair,
  (body) => mapTtn(body, { pm25: 'a' }),
  (body) => mapChirpstack(body, 'up', { pm25: 'a.b' }),
]

test('whatever is sent, no map throws, and no field is anything but a number', () => {
  const entry = fc.record({ value_type: fc.constantFrom('SDS_P1', 'P2'), value: fc.jsonValue() })
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ sensordatavalues: fc.oneof(fc.jsonValue(), fc.array(entry)) }),
    fc.record({
      end_device_ids: fc.constant({ dev_eui: '70B3D57ED0000001' }),
      uplink_message: fc.record({ decoded_payload: fc.jsonValue(), received_at: fc.string() }),
      deviceInfo: fc.constant({ devEui: '70B3D57ED0000001' }),
      time: fc.constant('2026-11-21T07:00:01Z'),
      object: fc.jsonValue(),
      DateTime: fc.jsonValue(),
      pm2_5_atm: fc.jsonValue(),
      pm2_5_atm_b: fc.jsonValue(),
    }),
  )
  fc.assert(
    fc.property(body, (value) => {
      for (const map of maps) {
        const verdict = map(value) as { fields?: object; mapped?: { fields?: object } }
        for (const number of Object.values(verdict.fields ?? verdict.mapped?.fields ?? {}))
          expect(number).toSatisfy(Number.isFinite)
      }
    }),
  )
})
