/** The faults of real sensors and gateways, so that every reason to refuse is seen. */
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import type { Draw } from './chance.ts'

/** A raw message: the sensor whose subject it goes to, and its body. */
export type RawMessage = { readonly sensor: string; readonly body: string }

/** A reading as it should have been sent. */
export type CleanReading = {
  readonly sensor: string
  readonly timeMs: number
  readonly values: Readonly<Record<string, number>>
}

const body = ({ sensor, timeMs, values }: CleanReading): string =>
  JSON.stringify({ sensor_id: sensor, timestamp: formatIso(timeMs), ...values })

const message = (reading: CleanReading, text: string): RawMessage[] => [
  { sensor: reading.sensor, body: text },
]
const changed = (reading: CleanReading, values: Readonly<Record<string, number>>): RawMessage[] =>
  message(reading, body({ ...reading, values: { ...reading.values, ...values } }))
const atTime = (reading: CleanReading, timeMs: number): RawMessage[] =>
  message(reading, body({ ...reading, timeMs }))

/** By the fault's name, what is sent instead of a reading. */
export const dirt = {
  torn: (reading) => message(reading, body(reading).slice(0, 40)),
  words_for_numbers: (reading) =>
    message(reading, body(reading).replace(/"pm25":([\d.]+)/, '"pm25":"$1"')),
  no_offset: (reading) => message(reading, body(reading).replace('Z"', '"')),
  fast_clock: (reading) => atTime(reading, reading.timeMs + 6 * hourMs),
  reset_clock: (reading) => atTime(reading, reading.timeMs % dayMs),
  clock_backwards: (reading) => atTime(reading, reading.timeMs - 7 * minuteMs),
  hot_thermometer: (reading) => changed(reading, { temperature: 141.3 }),
  dead_sensor: (reading) => message(reading, body({ ...reading, values: { temperature: -200 } })),
  saturated: (reading) => changed(reading, { pm25: 999.9, pm10: 1999.9 }),
  damp: (reading) => changed(reading, { humidity: 99.9 }),
  repeated: (reading) => [...message(reading, body(reading)), ...message(reading, body(reading))],
  contradicted: (reading) => [
    ...message(reading, body(reading)),
    ...changed(reading, { pm25: (reading.values['pm25'] ?? 0) + 5 }),
  ],
  wrong_name: (reading) => message(reading, body({ ...reading, sensor: `${reading.sensor}0` })),
  stranger: (reading) => {
    const stranger = reading.sensor.replace(/\d+$/, '99999')
    return [{ sensor: stranger, body: body({ ...reading, sensor: stranger }) }]
  },
  empty: (reading) => message(reading, '[]'),
} as const satisfies Record<string, (reading: CleanReading) => readonly RawMessage[]>

const names = Object.keys(dirt)
const place = 401
const dirtChance = 0.03

/** What is sent for a reading: in most cases only itself. */
export function withDirt(
  reading: CleanReading,
  sensorIndex: number,
  draw: Draw,
): readonly RawMessage[] {
  if (draw(place, sensorIndex, reading.timeMs) >= dirtChance) return message(reading, body(reading))
  const which = Math.floor(draw(place, sensorIndex, reading.timeMs, 1) * names.length)
  const spoil: (reading: CleanReading) => readonly RawMessage[] =
    Object.values(dirt)[which] ?? dirt.torn
  return spoil(reading)
}
