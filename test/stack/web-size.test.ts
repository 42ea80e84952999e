/** What the browser is given, as it is built: small, and nothing from elsewhere. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildPages } from '../support/city-browser.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('all pages together are at most 100 kB, compressed; the verifier is beside them as published', async () => {
  using folder = temporaryFolder()
  const built = join(folder.path, 'pages')
  await buildPages(built)
  const sizes = Object.fromEntries(
    globSync('**/*.{js,css}', { cwd: built }).map((name) => [
      name,
      gzipSync(readFileSync(join(built, name)), { level: 9 }).length,
    ]),
  )
  const { 'airproof-verify.js': verifier = 0, ...pages } = sizes
  const sum = Object.values(pages).reduce((a, b) => a + b, 0)
  process.stdout.write(`pages: ${sum} bytes gzip; verifier: ${verifier}\n`)
  expect(sum).toBeGreaterThan(20_000)
  expect(sum).toBeLessThanOrEqual(100_000)
  expect(readFileSync(join(built, 'airproof-verify.js'))).toEqual(
    readFileSync('anchor/verifier/airproof-verify.js'),
  )
  // the policy of the pages allows neither
  expect(readFileSync(join(built, 'index.html'), 'utf8')).not.toMatch(
    /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/,
  )
})
