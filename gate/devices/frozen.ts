/**
 * An SDS011 (and its drivers) that has died may repeat its last sample for ever, which
 * looks alive. Real air is never the same to the hundredth for an hour.
 */
import { stuckAfter } from '../../core/air/quality.ts'
import type { MappedReading } from './mapped.ts'

/** What is remembered of a sensor: its last pair of particle values, and how often it arrived. */
export type Frozen = { readonly pair: string; readonly times: number }

/**
 * From the `stuckAfter`th equal pair on, the particles are left out.
 * @param before of the sensor's last reading, undefined at first
 */
export function leaveOutFrozen(
  before: Frozen | undefined,
  reading: MappedReading,
): { readonly frozen: Frozen | undefined; readonly reading: MappedReading } {
  const { pm25, pm10, pm1: _1, pm4: _4, ...rest } = reading.fields
  if (pm25 === undefined && pm10 === undefined) return { frozen: before, reading }
  const pair = `${pm25} ${pm10}`
  const times = before?.pair === pair ? before.times + 1 : 1
  const frozen = { pair, times }
  if (times < stuckAfter) return { frozen, reading }
  const why = `the same values ${times} times in a row: the sensor is stuck`
  return {
    frozen,
    reading: {
      ...reading,
      fields: rest,
      ignored: [...reading.ignored, { key: 'pm25, pm10', why }],
    },
  }
}
