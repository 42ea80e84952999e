import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Locked = {
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Packages = Readonly<Record<string, Locked>>

const { packages }: { packages: Packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))

/**
 * Parts for other platforms that the lockfile leaves out: `npm ci` refuses such a file. They go
 * missing when a version is chosen of which the registry does not have every platform's part.
 */
const missingParts = (all: Packages): string[] => {
  const known = new Set(Object.keys(all).map((path) => path.replace(/^.*node_modules\//, '')))
  return Object.values(all).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => !known.has(name)),
  )
}

test('the lockfile holds the parts for every platform', () => {
  expect(missingParts(packages)).toEqual([])
})

test('a part that is left out is seen', () => {
  const holed = { 'node_modules/a': { optionalDependencies: { 'a-linux': '1', 'a-mac': '1' } } }
  expect(missingParts({ ...holed, 'node_modules/b/node_modules/a-linux': {} })).toEqual(['a-mac'])
})

test('the lockfile names no download address, so any registry will do', () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([])
})
