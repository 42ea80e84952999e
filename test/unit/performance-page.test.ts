import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { barChart } from '../../bench/report/chart.ts'
import { missingFigures, performancePage } from '../../bench/report/page.ts'
import { type Measured, numberAt, readMeasured } from '../../bench/report/results.ts'
import { sections } from '../../bench/report/sections.ts'

const measuredOnce = (result: unknown): Measured => ({
  v: 1,
  bench: 'pipeline',
  args: [],
  commit: '0123456789abcdef',
  date: '2026-11-27',
  machine: { cpu: 'any', cores: 2, memoryGb: 24, node: 'v26.0.0' },
  runs: [{ load: 0.1, result }],
})

test('the page and its pictures are those that the kept results make', () => {
  const { text, pictures } = performancePage()
  expect(readFileSync('docs/performance.md', 'utf8')).toBe(text)
  for (const [name, picture] of pictures)
    expect(readFileSync(`docs/performance/${name}`, 'utf8')).toBe(picture)
})

test('each section runs a bench that exists, and shows only what that bench printed', () => {
  const faults = sections.flatMap((section) => {
    const measured = readMeasured(section.id)
    const missing = measured === undefined ? [] : missingFigures(section, measured)
    return existsSync(`bench/${section.bench}.ts`) ? missing : [section.bench]
  })
  expect(faults).toEqual([])
})

test('a figure is found by its path, in a list by the values of its row', () => {
  const result = {
    a: { b: 1 },
    starts: [
      { name: 'x', n: 10, ms: 2 },
      { name: 'x', n: 20, ms: 3 },
    ],
  }
  expect(numberAt(result, 'a.b')).toBe(1)
  expect(numberAt(result, 'starts[name=x,n=20].ms')).toBe(3)
  expect(numberAt(result, 'starts[name=y].ms')).toBeUndefined()
  expect(numberAt(result, 'a.c')).toBeUndefined()
  expect(numberAt(result, 'a.toString')).toBeUndefined()
})

test('a goal that is missed is in bold, and a figure that no run has is named', () => {
  const result = { influx: { ours: { cpuUs: 9 } }, sqlite: { oursWithoutStoreUs: 3 } }
  const { text } = performancePage((id) => (id === 'pipeline' ? measuredOnce(result) : undefined))
  expect(text).toContain('| into InfluxDB | **9 µs** | at most 6 µs |')
  expect(text).toContain('| into SQLite, without SQLite’s own | 3 µs | at most 4 µs |')
  expect(text).toContain('| into SQLite | not measured |')
})

test('a bar is as long as its value is large, and words of a label stay words', () => {
  const svg = barChart(
    'T',
    'µs',
    [
      { label: 'a<b', value: 1, isOurs: true },
      { label: 'c', value: 2, isOurs: false },
    ],
    undefined,
  )
  const widths = [...svg.matchAll(/<rect x="290"[^>]* width="([\d.]+)"/g)].map(([, w]) => Number(w))
  expect(widths[1]).toBe(2 * widths[0]!)
  expect(svg).toContain('a&lt;b')
})
