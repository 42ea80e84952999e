import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { asJavaScript, namedBy } from '../../release/build.ts'
import { faultOfLicences, licenceLines } from '../../release/licences.ts'
import { notesOf } from '../../release/notes.ts'

const source = `import type { A } from './a.ts'
import { b } from "../b.ts"
import c from './c.json' with { type: 'json' }
export * from './d.ts'
const e = await import('./e.ts')
const f = new Worker(new URL('./f.ts', import.meta.url))
const g: string = 'left.ts'
`

test('a module of the package names what is there, line by line as its source', () => {
  expect(namedBy(source)).toEqual(['./a.ts', '../b.ts', './c.json', './d.ts', './e.ts', './f.ts'])
  const script = asJavaScript(source)
  expect(script.split('\n')).toHaveLength(source.split('\n').length)
  expect(script).toContain('from "../b.js"')
  expect(script).toContain("import('./e.js')")
  expect(script).toContain("new URL('./f.js', import.meta.url)")
  expect(script).toContain("'left.ts'")
  expect(script).not.toMatch(/: string|\/a\.ts/)
})

const of = (name: string, ...ids: string[]) => ({
  name,
  version: '1.0.0',
  licenses: ids.map((id) => ({ license: { id } })),
})

test('a licence that is not permitted stops a release, and so does none', () => {
  const fine = [of('a', 'MIT'), { ...of('b'), licenses: [{ expression: '(GPL-2.0 OR MIT)' }] }]
  expect(faultOfLicences(fine)).toBeUndefined()
  expect(licenceLines(fine)).toEqual(['a 1.0.0: MIT', 'b 1.0.0: (GPL-2.0 OR MIT)', ''])
  expect(faultOfLicences([...fine, of('c', 'GPL-3.0'), of('d')])).toBe(
    'not among the permitted licences: c 1.0.0 (GPL-3.0), d 1.0.0 (none)',
  )
})

test('the notes of a release are its section of the changelog', () => {
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  expect(notesOf(changelog, '0.1.0')).toMatch(/^# airproof 0\.1\.0\n/)
  expect(notesOf(changelog, '0.1.0')).not.toContain('Unreleased')
  expect(notesOf('## Unreleased\n- x\n## 0.1.0\n- y\n', '0.2.0-dev')).toBe(
    '# airproof 0.2.0-dev\n\n- x\n',
  )
  expect(() => notesOf(changelog, '9.9.9')).toThrow('no section "## 9.9.9"')
})
