import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { type Mutant, mutate, StaleMutant } from './mutant.ts'

/** What a run may take, on a quiet machine; counted in CPU time, so that a busy one gives the same. */
const longestCpuSeconds = 60
/** One that hangs is ended. */
const longestMs = 300_000

export type Outcome = {
  readonly name: string
  readonly file: string
  readonly caughtBy: 'tests' | 'types' | null
  readonly seconds: number
  readonly cpuSeconds: number
}

/** A program and its arguments. It fails where it notices the mutant. */
export type Check = readonly [string, ...string[]]
export type Checks = {
  readonly tests: (names: readonly string[]) => Check
  readonly types: (file: string) => Check
}

type Run = { readonly passed: boolean; readonly cpuSeconds: number; readonly output: string }

/** The sum of the children's minutes and seconds on the last line of the shell's `times`. */
const cpuSecondsIn = (times: string): number =>
  [...(times.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  )

async function run(check: Check, folder: string): Promise<Run> {
  // the shell knows what all that it started has used
  const script = '"$@" 2>&1; code=$?; times >&2; exit $code'
  const child = spawn('sh', ['-c', script, 'sh', ...check], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestMs,
  })
  let output = ''
  let times = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (times += text))
  const [code] = await once(child, 'close')
  return { passed: code === 0, cpuSeconds: cpuSecondsIn(times), output }
}

/**
 * @param folder a copy, which is changed and changed back
 * @throws StaleMutant where the list no longer fits the code, or the mutant is not a program
 */
export async function tryMutant(mutant: Mutant, folder: string, checks: Checks): Promise<Outcome> {
  const path = join(folder, mutant.file)
  const source = readFileSync(path, 'utf8')
  const mutated = mutate(source, mutant)
  assertProgram(mutant, mutated)
  const begun = performance.now()
  let cpuSeconds = 0
  const notices = async (check: Check): Promise<boolean> => {
    const { passed, ...used } = await run(check, folder)
    cpuSeconds += used.cpuSeconds
    return !passed && used.cpuSeconds <= longestCpuSeconds
  }
  writeFileSync(path, mutated)
  try {
    const caughtBy =
      mutant.tests.length > 0 && (await notices(checks.tests(mutant.tests)))
        ? 'tests'
        : (await notices(checks.types(mutant.file)))
          ? 'types'
          : null
    const seconds = (performance.now() - begun) / 1000
    return { name: mutant.name, file: mutant.file, caughtBy, seconds, cpuSeconds }
  } finally {
    writeFileSync(path, source)
  }
}

/**
 * All of them, in as many copies as there are, each of which takes the next one.
 * @param on gets each outcome as it comes
 */
export async function tryMutants(
  mutants: readonly Mutant[],
  folders: readonly string[],
  checks: Checks,
  on: (outcome: Outcome) => void,
): Promise<void> {
  const waiting = mutants.values()
  const takeOne = async (folder: string): Promise<void> => {
    const { value, done } = waiting.next()
    if (done === true) return
    on(await tryMutant(value, folder, checks))
    await takeOne(folder)
  }
  await Promise.all(folders.map(takeOne))
}

/** Any test notices a file that cannot be read, so that would show nothing. */
function assertProgram({ name, file }: Mutant, source: string): void {
  try {
    if (file.endsWith('.ts')) stripTypeScriptTypes(source)
    if (file.endsWith('.json')) JSON.parse(source)
  } catch (error) {
    throw new StaleMutant(`${name}: ${file} is not a program with it`, { cause: error })
  }
}

/** @throws Error with what failed, where a check fails without any mutant: it would catch them all */
export async function assertGreen(
  mutants: readonly Mutant[],
  folder: string,
  checks: Checks,
): Promise<void> {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))].toSorted()
  const all = [...new Set(mutants.map(({ file }) => checks.types(file).join('\0')))].map((words) =>
    words.split('\0'),
  )
  if (tests.length > 0) all.push([...checks.tests(tests)])
  for (const [program = '', ...words] of all) {
    const { passed, output } = await run([program, ...words], folder)
    if (!passed) throw new Error(`it fails without a mutant already:\n${output}`)
  }
}
