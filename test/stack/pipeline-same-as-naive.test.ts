/** How much faster is for the benchmark to say; that both do the same work is for a test. */
import { expect, test } from 'vitest'
import { runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { printFigures } from '../support/chaos/figures.ts'

type Printed = {
  readonly readings: number
  readonly ceiling: { readonly cpuUs: number }
  readonly sqlite: {
    readonly ours: { readonly cpuUs: number }
    readonly naive: { readonly cpuUs: number }
    readonly cheaperThanNaive: number
    readonly ofCeiling: number
    readonly rows: number
    readonly sameRows: boolean
  }
}

test('the pipeline and the naive program accept the same readings, and the figures are printed', async () => {
  const text = await runTool(
    process.execPath,
    ['bench/pipeline.ts', '--readings', '4000', '--sensors', '200', '--engine', 'sqlite'],
    { env: environment(), timeoutMs: 120_000 },
  )
  const printed = JSON.parse(text) as Printed
  const { ceiling, sqlite } = printed
  expect(sqlite.rows).toBe(4_000)
  expect(sqlite.sameRows).toBe(true)
  for (const figure of [ceiling.cpuUs, sqlite.naive.cpuUs, sqlite.cheaperThanNaive]) {
    // of few readings: what a start costs is subtracted, and is more than they cost
    expect(figure).toBeTypeOf('number')
  }
  printFigures('2 against the naive program', {
    readings: printed.readings,
    ours: sqlite.ours,
    naive: sqlite.naive,
    ceiling,
  })
})
