/**
 * `npm run mutants [-- --json] [-- WORD]`: takes lines out of copies of the project, one at a time,
 * and counts the ones that a test or the types notice. WORD chooses by name or file.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { copiedTree, copyOf } from './copied-tree.ts'
import { mutants as listed } from './lists/mutants.ts'
import { mutantsOf, testFile } from './mutant.ts'
import { assertGreen, type Checks, type Outcome, tryMutants } from './try-mutants.ts'

const { values: flags, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const root = fileURLToPath(new URL('../..', import.meta.url))
const most = Math.min(4, availableParallelism())

const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--retry=0', '--bail=1']
const checks: Checks = {
  tests: (names) => [process.execPath, ...vitest, ...names.map(testFile)],
  types: (file) => {
    const project = file.startsWith('dashboard/web/') ? 'dashboard/web' : '.'
    const known = `${project.replaceAll('/', '-')}.tsbuildinfo`
    const tsc = 'node_modules/typescript/bin/tsc'
    return [process.execPath, tsc, '-p', project, '--incremental', '--tsBuildInfoFile', known]
  },
}

const outcomes: Outcome[] = []
const print = (outcome: Outcome): void => {
  outcomes.push(outcome)
  const { name, file, caughtBy, seconds, cpuSeconds } = outcome
  const printed = caughtBy === null ? 'SURVIVED' : `caught by ${caughtBy}`
  const times = `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`
  if (!flags.json) console.log(`${printed.padEnd(15)} ${name} · ${file} · ${times}`)
}

using first = copiedTree(root)
const mutants = mutantsOf(listed, (file) => readFileSync(`${first.path}/${file}`, 'utf8')).filter(
  ({ name, file }) => positionals.every((word) => name.includes(word) || file.includes(word)),
)
await assertGreen(mutants, first.path, checks)
using copies = new DisposableStack()
const others = Array.from({ length: most - 1 }, () => copies.use(copyOf(first.path)).path)
await tryMutants(mutants, [first.path, ...others], checks, print)

const caught = outcomes.filter(({ caughtBy }) => caughtBy !== null).length
if (flags.json)
  console.log(JSON.stringify({ caught, of: outcomes.length, mutants: outcomes }, null, 2))
else console.log(`${caught} caught of ${outcomes.length}`)
if (caught < outcomes.length || outcomes.length === 0) process.exitCode = 1
