import { expect, test } from 'vitest'
import { openProgress } from '../../cli/shell/progress.ts'

function shown(isTerminal: boolean) {
  const [drawn, noted]: [string[], string[]] = [[], []]
  let nowMs = 0
  const progress = openProgress({
    label: 'readings',
    total: 200,
    isTerminal,
    note: (line) => noted.push(line),
    write: (text) => drawn.push(text),
    nowMs: () => nowMs,
  })
  for (; nowMs <= 25_000; nowMs += 50) progress.at(nowMs / 250, 'of today')
  progress[Symbol.dispose]()
  return { drawn, noted }
}

test('on a terminal one line is drawn again, at most ten times a second, and taken away at the end', () => {
  const { drawn, noted } = shown(true)
  expect(noted).toEqual([])
  expect(drawn).toHaveLength(252)
  expect(drawn[100]).toContain('readings █████░░░░░░░░░░░░░░░░░░░  20 %  40/200  4/s  of today')
  expect(drawn.at(-1)).toBe('\r\u001B[2K')
})

test('elsewhere a line is written every ten seconds', () => {
  expect(shown(false)).toEqual({
    drawn: [],
    noted: ['readings: 20 %, of today', 'readings: 40 %, of today'],
  })
})
