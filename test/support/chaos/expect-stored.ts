import { expect } from 'vitest'
import { nOfSeq, partitionOfSeq, type Reading } from '../../../core/air/reading.ts'
import { type Values, valuesOf } from '../../../core/air/values.ts'
import type { SentReading } from './sensors.ts'

/** Each acknowledged reading is stored once, value for value, in order and numbered without a gap. */
export function expectStored(rows: readonly Reading[], sent: readonly SentReading[]): void {
  expect(rows.map((row) => textOf(row, row.values)).toSorted()).toEqual(
    sent.map((one) => textOf(one, valuesOf(one.values))).toSorted(),
  )
  for (const ofPartition of Map.groupBy(rows, ({ seq }) => partitionOfSeq(seq)).values()) {
    const numbers = ofPartition.map(({ seq }) => nOfSeq(seq)).toSorted((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  }
  for (const ofSensor of Map.groupBy(rows, ({ sensor }) => sensor).values()) {
    const bySeq = ofSensor.toSorted((a, b) => a.seq - b.seq).map(({ timeMs }) => timeMs)
    expect(bySeq).toEqual(bySeq.toSorted((a, b) => a - b))
  }
}

const textOf = ({ sensor, timeMs }: SentReading | Reading, values: Values): string =>
  [sensor, timeMs, ...values].join(' ')
