import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allowed, importsOf, processFolders, strays } from '../support/dependency-rule.ts'

const folderOf = (file: string): string => file.split('/')[0] ?? ''
const sources = (pattern: string): string[] =>
  globSync(pattern, { exclude: ['node_modules/**'] }).map((file) => file.replaceAll('\\', '/'))

const files = Object.keys(allowed).flatMap((folder) => sources(`${folder}/**/*.{ts,tsx}`))

test('the rule looks at real files', () => expect(files.length).toBeGreaterThan(5))

test('a folder that reaches into another, or for a clock, is caught', () => {
  const source = [
    `import { x } from '../../pipeline/x.ts'`,
    `import fs from 'node:fs'`,
    `import { y } from '../y.ts'`,
    `const late = await import('rxjs')`,
    `import 'ajv/dist/core.js'`,
  ].join('\n')
  const imports = importsOf('core/aqi/z.ts', source)
  expect(strays('core', imports).toSorted()).toEqual(
    ['ajv/dist/core.js', 'node:fs', 'pipeline/', 'rxjs'].toSorted(),
  )
  expect(strays('schemas', ['ajv/dist/core.js', 'ajv-formats', 'node:fs'])).toEqual(['ajv-formats'])
})

test('no row of the rule lets a process import another one', () => {
  const meetings = processFolders.flatMap((folder) =>
    (allowed[folder] ?? []).filter((name) => processFolders.some((other) => name === `${other}/`)),
  )
  expect(meetings).toEqual([])
})

test('nothing imports the tests, the benchmarks or the examples', () => {
  const named = new Set(Object.values(allowed).flat())
  expect(['test/', 'bench/', 'examples/', 'docs/'].filter((folder) => named.has(folder))).toEqual(
    [],
  )
})

test.each(files)('%s imports only what its folder may', (file) => {
  expect(strays(folderOf(file), importsOf(file, readFileSync(file, 'utf8')))).toEqual([])
})

const readsEnvironment = (source: string): boolean =>
  /\bprocess\s*(?:\.\s*env\b|\[\s*['"]env['"]\s*\])|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|\bimport\b[^'"]*\benv\b[^'"]*['"](?:node:)?process['"]/.test(
    source,
  )

test('a file that reads the environment is caught, however it spells it', () => {
  expect(
    [
      'const a = process.env.HOME',
      `process['env']`,
      'const { env } = process',
      `import { env } from 'node:process'`,
    ].map(readsEnvironment),
  ).toEqual([true, true, true, true])
  expect(readsEnvironment('const env = { PATH: 1 }')).toBe(false)
})

test('only a config file reads the environment', () => {
  const readers = files.filter((file) => readsEnvironment(readFileSync(file, 'utf8')))
  expect(readers.filter((file) => !file.endsWith('/config.ts'))).toEqual([])
})
