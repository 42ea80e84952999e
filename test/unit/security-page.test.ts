/** SECURITY.md is a list of sentences, and each names the test that holds it. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Claim = { readonly sentence: string; readonly file: string; readonly test: string }

const heldBy = /^`(?<file>test\/[\w/.-]+\.test\.ts)`: (?<test>.+)$/u

/** The rows of its tables: the last cell names a test file and the test's name, or its beginning. */
function claimsOf(page: string): readonly Claim[] {
  const rows = page.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('|--'))
  const cells = rows.map((row) => row.split(/(?<!\\)\|/u).map((cell) => cell.trim()))
  return cells
    .filter((row) => row.at(-2) !== 'held by')
    .map((row) => {
      const { file = '', test: name = '' } = heldBy.exec(row.at(-2) ?? '')?.groups ?? {}
      return { sentence: row.slice(1, -2).join(' | '), file, test: name }
    })
}

/** As a file of tests writes it: a quote may be escaped there. */
const plain = (text: string): string => text.replaceAll('\\', '')

const holds = ({ file, test: name }: Claim): boolean =>
  name !== '' && existsSync(file) && plain(readFileSync(file, 'utf8')).includes(name)

test('every sentence of SECURITY.md names a test that is there', () => {
  const claims = claimsOf(readFileSync('SECURITY.md', 'utf8'))
  expect(claims.length).toBeGreaterThan(30)
  expect(claims.filter((claim) => !holds(claim))).toEqual([])
})

test('canary: a sentence without its test is found', () => {
  const page = [
    '| sentence | held by |',
    '|---|---|',
    '| the sky is blue | |',
    '| this file is there | `test/unit/security-page.test.ts`: no test has this name at all |'.replace(
      'no test',
      'none',
    ),
  ].join('\n')
  expect(claimsOf(page).map(holds)).toEqual([false, false])
})
