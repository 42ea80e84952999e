import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

type Outcome = { readonly code: number | null; readonly output: string }

const runCanaries = (...files: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const args = ['run', '--config', 'test/support/canary/vitest.config.ts', ...files]
    const child = execFile('vitest', args, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, output: `${stdout}\n${stderr}` }),
    )
  })

const closingLine = ({ output }: Outcome): string =>
  output.split('\n').findLast((line) => / passed, \d+ failed, \d+ skipped$/.test(line)) ?? output

test.each([
  ['a failed test and a suite that cannot begin', 'counts', '1 passed, 2 failed, 2 skipped'],
  ['a file that does not load', 'does-not-load', '0 passed, 1 failed, 0 skipped'],
  ['a process left behind', 'leaves-child', '1 passed, 1 failed, 0 skipped'],
  ['a server left listening', 'leaves-server', '1 passed, 1 failed, 0 skipped'],
])('%s fails the run and is counted', async (_what, file, expected) => {
  const outcome = await runCanaries(file)
  expect(closingLine(outcome)).toBe(expected)
  expect(outcome.code).toBe(1)
})
