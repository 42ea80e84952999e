/**
 * `npm run mutants [-- --json] [-- WORD]`: takes lines out of a copy of the project, one at a time,
 * and counts the ones that a test or the types notice. WORD chooses by name or file.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { copiedTree } from './copied-tree.ts'
import { mutants as listed } from './lists/mutants.ts'
import { mutantsOf } from './mutant.ts'
import { assertGreen, type Checks, type Outcome, tryMutant } from './try-mutants.ts'

const { values: flags, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const root = fileURLToPath(new URL('../..', import.meta.url))

const checks: Checks = {
  tests: (names) => [
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    ...['run', '--retry=0', '--bail=1', '--project=unit'],
    ...names.map((name) => `test/unit/${name}.test.ts`),
  ],
  types: (file) => {
    const project = file.startsWith('dashboard/web/') ? 'dashboard/web' : '.'
    const known = `${project.replaceAll('/', '-')}.tsbuildinfo`
    const tsc = 'node_modules/typescript/bin/tsc'
    return [process.execPath, tsc, '-p', project, '--incremental', '--tsBuildInfoFile', known]
  },
}

using copy = copiedTree(root)
const mutants = mutantsOf(listed, (file) => readFileSync(`${copy.path}/${file}`, 'utf8')).filter(
  ({ name, file }) => positionals.every((word) => name.includes(word) || file.includes(word)),
)
await assertGreen(mutants, copy.path, checks)
const outcomes: Outcome[] = []
for (const mutant of mutants) {
  const outcome = await tryMutant(mutant, copy.path, checks)
  outcomes.push(outcome)
  const { name, file, caughtBy, seconds, cpuSeconds } = outcome
  const said = caughtBy === null ? 'SURVIVED' : `caught by ${caughtBy}`
  if (!flags.json)
    console.log(
      `${said.padEnd(15)} ${name} · ${file} · ${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`,
    )
}
const caught = outcomes.filter(({ caughtBy }) => caughtBy !== null).length
if (flags.json)
  console.log(JSON.stringify({ caught, of: outcomes.length, mutants: outcomes }, null, 2))
else console.log(`${caught} caught of ${outcomes.length}`)
if (caught < outcomes.length || outcomes.length === 0) process.exitCode = 1
