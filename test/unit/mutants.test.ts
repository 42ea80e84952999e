import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mutants } from '../mutants/lists/mutants.ts'
import { type Mutant, mutantsOf, mutate, StaleMutant, testFile } from '../mutants/mutant.ts'
import { assertGreen, type Checks, tryMutant, tryMutants } from '../mutants/try-mutants.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const source = 'export const sum = (a, b) => a + b\nexport const unlooked = 1\n'
const node = process.execPath

/** The test of `sum` fails where 2 + 3 is not 5; the types fail where the word `sum` is missing. */
const checks: Checks = {
  tests: (names) => [node, ...names.map((name) => `${name}.test.mjs`)],
  types: (file) => [node, '-e', `if (!/sum/.test(fs.readFileSync('${file}'))) process.exit(1)`],
}

const mutant: Mutant = {
  name: 'it subtracts',
  file: 'sum.mjs',
  text: 'a + b',
  becomes: 'a - b',
  tests: ['sum'],
}

function project(): Disposable & { readonly path: string } {
  const folder = temporaryFolder()
  mkdirSync(folder.path, { recursive: true })
  writeFileSync(join(folder.path, 'sum.mjs'), source)
  writeFileSync(
    join(folder.path, 'sum.test.mjs'),
    `import { sum } from './sum.mjs'\nif (sum(2, 3) !== 5) process.exit(1)\n`,
  )
  return folder
}

test.each([
  ['tests', mutant],
  ['types', { ...mutant, text: 'sum', becomes: 'plus', tests: [] }],
  [null, { ...mutant, text: 'unlooked = 1', becomes: 'unlooked = 2' }],
] as const)('a mutant is caught by: %s', async (caughtBy, one) => {
  using folder = project()
  const outcome = await tryMutant(one, folder.path, checks)
  expect(outcome).toMatchObject({ name: one.name, file: 'sum.mjs', caughtBy })
  expect(outcome.cpuSeconds).toBeGreaterThan(0)
  expect(readFileSync(join(folder.path, 'sum.mjs'), 'utf8')).toBe(source)
})

test('a mutant whose text is not found, or twice, or is the same after is an error', async () => {
  using folder = project()
  const stale = (more: Partial<Mutant>) => tryMutant({ ...mutant, ...more }, folder.path, checks)
  await expect(stale({ text: 'a * b' })).rejects.toThrow('its text is 0 times in sum.mjs, not once')
  await expect(stale({ text: 'export' })).rejects.toThrow('its text is 2 times in sum.mjs')
  await expect(stale({ becomes: 'a + b' })).rejects.toThrow('it changes nothing in sum.mjs')
})

test('a mutant that is no longer a program is an error, as any test would catch it', async () => {
  using folder = project()
  writeFileSync(join(folder.path, 'a.ts'), source)
  const broken = tryMutant({ ...mutant, file: 'a.ts', becomes: 'a +* b' }, folder.path, checks)
  await expect(broken).rejects.toThrow(StaleMutant)
})

test('several copies try each mutant once', async () => {
  using one = project()
  using other = project()
  const five = Array.from({ length: 5 }, (_, i) => ({ ...mutant, name: `${i}` }))
  const names: string[] = []
  await tryMutants(five, [one.path, other.path], checks, ({ name }) => names.push(name))
  expect(names.toSorted()).toEqual(['0', '1', '2', '3', '4'])
})

test('tests that fail without a mutant are an error, as they would catch all', async () => {
  using folder = project()
  await assertGreen([mutant], folder.path, checks)
  writeFileSync(join(folder.path, 'sum.test.mjs'), `console.log('it is red'); process.exit(1)\n`)
  await expect(assertGreen([mutant], folder.path, checks)).rejects.toThrow('it is red')
})

test('each row of a table is a mutant, and a table with fewer rows is an error', () => {
  const table = "  { id: 'a' },\n  { id: 'b' },\n"
  const rows = /^ {2}\{ id: '(\w)' \},\n/gm
  const listed = { name: 'a row is out', file: 't.ts', rows, becomes: () => '', tests: [] }
  const made = mutantsOf([{ ...listed, least: 2 }], () => table)
  expect(made.map(({ name }) => name)).toEqual(['a row is out: a', 'a row is out: b'])
  expect(made.map((one) => mutate(table, one))).toEqual(["  { id: 'b' },\n", "  { id: 'a' },\n"])
  expect(() => mutantsOf([{ ...listed, least: 3 }], () => table)).toThrow(StaleMutant)
})

test('every mutant of the list fits the code, and its tests exist', () => {
  const read = (file: string): string => readFileSync(file, 'utf8')
  const all = mutantsOf(mutants, read)
  for (const one of all) {
    expect(mutate(read(one.file), one)).not.toBe(read(one.file))
    for (const name of one.tests) read(testFile(name))
  }
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
})
