import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

// The dependency rule is a test file of this same run.
const checks = Object.keys(scripts).filter(
  (name) => name.startsWith('check:') && name !== 'check:rule',
)

test('`npm run check` is all of its parts', () => {
  const named = scripts['check']?.match(/check:\w+/g)
  expect(named).toEqual(Object.keys(scripts).filter((name) => name.startsWith('check:')))
  expect(checks).toEqual(['check:types', 'check:lint', 'check:format', 'check:unused'])
})

test.each(checks)('%s finds nothing', async (name) => {
  const outcome = await run('npm', ['run', '--silent', name], {
    shell: process.platform === 'win32',
  }).then(
    () => 'nothing found',
    (error: { stdout: string; stderr: string }) => `${error.stdout}\n${error.stderr}`,
  )
  expect(outcome).toBe('nothing found')
})
