import { describe, expect, it } from 'vitest'
import { mapAirgradient } from '../../gate/devices/airgradient.ts'
import fixture from '../fixtures/devices-mqtt/airgradient.json' with { type: 'json' }

const serial = 'aabbccddeeff'

describe('an AirGradient message', () => {
  it('gives the raw values, not those that the firmware corrected', () => {
    const mapped = mapAirgradient(fixture.body, serial)
    expect(mapped).toEqual({ fields: fixture.fields, ignored: [] })
  })

  it('lacks the keys of a sensor without a valid value, and the rest counts', () => {
    const { pm02: _pm, pm02Compensated: _c, rco2: _co2, ...rest } = fixture.body
    expect(mapAirgradient(rest, serial)).toEqual({
      fields: {
        pm10: 24,
        temperature: 29.31,
        humidity: 64.2,
        pm1: 9,
        voc_index: 104,
        nox_index: 1,
      },
      ignored: [],
    })
  })

  it('sends nothing just after the start, which is not a fault', () => {
    const booted = { boot: 0, wifi: -60, serialno: serial, firmware: '3.6.5' }
    expect(mapAirgradient(booted, serial)).toEqual({ fields: {}, ignored: [] })
  })

  it('is refused when it names another monitor than its topic', () => {
    const other = { ...fixture.body, serialno: '001122334455' }
    expect(mapAirgradient(other, serial)).toEqual({
      refused: 'serialno is 001122334455, the topic is that of aabbccddeeff',
    })
  })

  it.each([null, 7, 'pm02', [fixture.body]])('is refused when it is %j', (body) => {
    expect(mapAirgradient(body, serial)).toHaveProperty('refused')
  })
})
