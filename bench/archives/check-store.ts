/** Every stored row beside the reading it must be, bit for bit. */
import type { ExpectedSensor } from './expected-city.ts'
import type { Findings } from './findings.ts'
import { quantities } from './plain-values.ts'
import type { StoredRow, StoredRows } from './stored-rows.ts'

/** @returns all rows, by sensor and time, for a later comparison */
export async function checkStore(
  stored: StoredRows,
  sensors: readonly ExpectedSensor[],
  findings: Findings,
): Promise<readonly StoredRow[]> {
  const all: StoredRow[] = []
  for (const { id, readings } of sensors) {
    const rows = await stored.of(id)
    findings.same(() => `${id} rows`, rows.length, readings.length)
    for (const [i, row] of rows.entries()) {
      const expected = readings[i]
      if (expected === undefined) break
      const where = (what: string) => () =>
        `stored ${id} ${new Date(expected.timeMs).toISOString()} ${what}`
      findings.same(where('time'), row.timeMs, expected.timeMs)
      findings.same(where('area'), row.area, expected.area)
      for (const name of quantities) {
        const value = expected.values[name]
        findings.same(where(name), row[name], value === null ? null : value / 100)
      }
      findings.same(where('aqi'), row.aqi, expected.aqi)
      findings.same(where('flags'), row.flags, expected.flags)
    }
    all.push(...rows)
  }
  checkNumbers(all, findings)
  return all
}

const numbersPerPartition = 2 ** 40

/** FNV-1a, 32 bits, of an id, over 16. */
const partitionOf = (id: string): number =>
  Buffer.from(id).reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261) %
  16

/** In each partition the rows have the numbers 1, 2, 3 … */
function checkNumbers(rows: readonly StoredRow[], findings: Findings): void {
  for (const [partition, own] of Map.groupBy(rows, ({ sensor }) => partitionOf(sensor))) {
    const numbers = own.map(({ seq }) => seq - partition * numbersPerPartition)
    for (const [i, n] of numbers.toSorted((a, b) => a - b).entries()) {
      findings.same(() => `the ${i + 1}th number of partition ${partition}`, n, i + 1)
    }
  }
}

/** Nothing at all may differ, not even the numbers. */
export function checkUnchanged(
  before: readonly StoredRow[],
  after: readonly StoredRow[],
  findings: Findings,
): void {
  findings.same(() => 'rows after the second replay', after.length, before.length)
  for (const [i, row] of before.entries()) {
    findings.same(() => `row ${i} after the second replay`, after[i], row)
  }
}
