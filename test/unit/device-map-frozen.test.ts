import { expect, test } from 'vitest'
import { stuckAfter } from '../../core/air/quality.ts'
import { type Frozen, leaveOutFrozen } from '../../gate/devices/frozen.ts'
import type { MappedReading } from '../../gate/devices/mapped.ts'

const reading = (pm25: number): MappedReading => ({
  fields: { pm25, pm10: 40, temperature: 29 },
  ignored: [],
})

function play(values: readonly number[]) {
  let frozen: Frozen | undefined
  return values.map((value) => {
    const looked = leaveOutFrozen(frozen, reading(value))
    frozen = looked.frozen
    return looked.reading
  })
}

test('particles that never change are left out from the 24th on, and the rest stays', () => {
  const readings = play(Array.from({ length: stuckAfter + 1 }, () => 22.85))
  const isWhole = readings.map(({ fields }) => fields.pm25 === 22.85)
  expect(isWhole).toEqual([...Array.from({ length: stuckAfter - 1 }, () => true), false, false])
  expect(readings.at(-1)).toMatchObject({
    fields: { temperature: 29 },
    ignored: [{ key: 'pm25, pm10', why: expect.stringContaining('25 times') }],
  })
})

test('after one other value the sensor is believed again', () => {
  const stuck = Array.from({ length: stuckAfter }, () => 22.85)
  const readings = play([...stuck, 22.86, ...stuck.slice(1), 22.85])
  expect(readings[stuckAfter]?.fields.pm25).toBe(22.86)
  expect(readings.at(-2)?.fields.pm25).toBe(22.85)
  expect(readings.at(-1)?.fields.pm25).toBeUndefined()
})

test('a message without particles neither counts nor resets', () => {
  const before: Frozen = { pair: '1 2', times: 7 }
  const looked = leaveOutFrozen(before, { fields: { temperature: 29 }, ignored: [] })
  expect(looked.frozen).toBe(before)
})
