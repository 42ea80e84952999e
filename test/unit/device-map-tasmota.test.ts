import { describe, expect, it } from 'vitest'
import { mapTasmota } from '../../gate/devices/tasmota.ts'
import celsius from '../fixtures/devices-mqtt/tasmota.json' with { type: 'json' }
import fahrenheit from '../fixtures/devices-mqtt/tasmota-fahrenheit.json' with { type: 'json' }

const fieldsOf = (body: unknown) => {
  const mapped = mapTasmota(body)
  return 'refused' in mapped ? mapped : mapped.fields
}

describe('a Tasmota SENSOR message', () => {
  it('gives the air’s temperature, not that of the chip or of the CO2 lamp', () => {
    expect(mapTasmota(celsius.body)).toEqual({ fields: celsius.fields, ignored: [] })
  })

  it('has no time of its own where Time names no zone', () => {
    expect(mapTasmota(celsius.body)).not.toHaveProperty('timeMs')
  })

  it('is converted where the owner chose Fahrenheit, and keeps a time that names its zone', () => {
    expect(mapTasmota(fahrenheit.body)).toEqual({
      fields: fahrenheit.fields,
      ignored: [],
      timeMs: Date.parse(fahrenheit.time),
    })
  })

  it('takes the first of two particle sensors, and SPS30’s spelling', () => {
    const SPS30 = { PM2_5: 5.5, PM10: 6.5 }
    expect(fieldsOf({ SPS30, SDS0X1: { 'PM2.5': 9, PM10: 9 } })).toEqual({ pm25: 5.5, pm10: 6.5 })
  })

  it('takes ambient particles of a PMS5003, not the standard ones nor the counts', () => {
    const PMS5003 = { CF1: 1, 'CF2.5': 2, CF10: 3, PM1: 4, 'PM2.5': 5, PM10: 6, 'PB0.3': 700 }
    expect(fieldsOf({ PMS5003 })).toEqual({ pm1: 4, pm25: 5, pm10: 6 })
  })

  it('knows a sensor by its name with an address after it', () => {
    const body = {
      DS18B20: { Temperature: 40 },
      'BME280-76': { Temperature: 21, Humidity: 50 },
      'BME280-77': { Temperature: 22, Humidity: 51 },
      TempUnit: 'C',
    }
    expect(fieldsOf(body)).toEqual({ temperature: 21, humidity: 50 })
  })

  it('skips a sensor that sends null', () => {
    const body = { BME280: { Temperature: null }, DHT11: { Temperature: 30 }, TempUnit: 'C' }
    expect(fieldsOf(body)).toEqual({ temperature: 30 })
  })

  it.each(['K', undefined, 5])('loses a temperature in no unit we know: %s', (TempUnit) => {
    const body = { SDS0X1: { PM10: 1 }, BME280: { Temperature: 30 }, TempUnit }
    expect(mapTasmota(body)).toEqual({
      fields: { pm10: 1 },
      ignored: [{ key: 'BME280.Temperature', why: 'TempUnit is neither C nor F' }],
    })
  })

  it('gives the pressure in hPa, and loses one in no unit we know', () => {
    const body = { BME280: { Pressure: 750 } }
    const fields = fieldsOf({ ...body, PressureUnit: 'mmHg' })
    expect('pressure' in fields && fields.pressure).toBeCloseTo(999.92, 1)
    expect(fieldsOf({ ...body, PressureUnit: 'hPa' })).toEqual({ pressure: 750 })
    expect(mapTasmota(body)).toEqual({
      fields: {},
      ignored: [{ key: 'Pressure', why: 'PressureUnit is neither hPa nor mmHg' }],
    })
  })

  it('gives the indices of a SEN5X, and the TVOC of any driver', () => {
    const SEN5X = { PM1: 1, PM4: 4, VOC: 104, NOx: 2 }
    expect(fieldsOf({ SEN5X, SGP30: { TVOC: 12 }, BME680: { VOC: 9 } })).toEqual({
      pm1: 1,
      pm4: 4,
      voc_index: 104,
      nox_index: 2,
      tvoc: 12,
    })
  })

  it('gets the time of arrival while its clock is in 1970', () => {
    const mapped = mapTasmota({ ...celsius.body, Time: '1970-01-01T00:00:12+00:00' })
    expect(mapped).not.toHaveProperty('timeMs')
    expect(mapped).toHaveProperty('ignored.0.key', 'Time')
  })

  it('of a build without sensors is not a fault, and not a reading', () => {
    expect(mapTasmota({ Time: '2026-01-31T08:00:00' })).toEqual({ fields: {}, ignored: [] })
  })

  it.each([null, 7, 'x', []])('is refused when it is %j', (body) => {
    expect(mapTasmota(body)).toHaveProperty('refused')
  })
})
