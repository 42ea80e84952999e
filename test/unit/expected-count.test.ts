import { expect, test } from 'vitest'
import { expectedCount } from '../../api/statistics/expected-count.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'

const site = (area: string, fromMs: number) => ({ area, fromMs, lat: 6.5, lon: 3.4, address: '' })
const moved: RegisteredSensor = {
  id: 'NGR-LOS-IKJ-001' as SensorId,
  cadenceMs: 5 * minuteMs,
  sites: [site('Ikeja', 10 * hourMs), site('Yaba', 20 * hourMs)],
  retiredMs: 30 * hourMs,
}
test('one reading per cadence is expected where a sensor is, from its first to its last time', () => {
  const anywhere = expectedCount([moved], undefined)
  expect(anywhere(0, 100 * hourMs)).toBe(20 * 12)
  expect(anywhere(0, 10 * hourMs)).toBe(0)
  expect(anywhere(30 * hourMs, 100 * hourMs)).toBe(0)
  expect(anywhere(19 * hourMs, 21 * hourMs)).toBe(24)
  expect(anywhere(21 * hourMs, 19 * hourMs)).toBe(0)
  expect(expectedCount([moved], 'Ikeja')(0, 100 * hourMs)).toBe(10 * 12)
  expect(expectedCount([moved], 'Yaba')(0, 100 * hourMs)).toBe(10 * 12)
  expect(expectedCount([moved], 'Lekki')(0, 100 * hourMs)).toBe(0)
})

test('the parts of several sensors are the whole number that they are', () => {
  const sensors = [1, 2, 3].map(
    (n): RegisteredSensor => ({
      id: `NGR-LOS-IKJ-00${n}` as SensorId,
      cadenceMs: 5 * minuteMs,
      sites: [site('Ikeja', 0)],
    }),
  )
  const expected = expectedCount(sensors, 'Ikeja')
  for (let hours = 1; hours < 200; hours++)
    expect(expected(0, hours * hourMs), `${hours}`).toBe(36 * hours)
})
