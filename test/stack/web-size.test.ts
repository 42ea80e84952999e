/** What the browser is given, as it is built: small, and nothing from elsewhere. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtPages } from '../support/city-browser.ts'

/** All that the city loads before its map: scripts, styles, the texts of one language, the font. */
const mostOfFirstView = 90_000

/**
 * What is loaded when it is visited, or needed, each with its own bound, bytes gzip. A chunk with
 * another name counts as part of the first view.
 */
const later: readonly (readonly [RegExp, number])[] = [
  [/^airproof-verify\.js$/, 20_000],
  [/^assets\/account-[\w-]{8}\.js$/, 40_000],
  [/^assets\/sensor-[\w-]{8}\.js$/, 10_000],
  [/^assets\/proof-[\w-]{8}\.js$/, 10_000],
  [/^assets\/map-[\w-]{8}\.js$/, 60_000],
  [/^assets\/ground-[\w-]{8}\.js$/, 45_000],
  [/^assets\/charts?-[\w-]{8}\.js$/, 40_000],
  [/^(?:embed\.(?:js|css)|sw\.js|ask-node\.js)$/, 5_000],
  [/^assets\/texts-(?!en)\w+-[\w-]{8}\.js$/, 30_000],
]

test('the city’s first view is at most 90 kB before the map; each other chunk has a bound; the verifier is as published', async () => {
  const built = await builtPages()
  const sizes = globSync('**/*.{js,css,woff2}', { cwd: built }).map((name) => {
    const body = readFileSync(join(built, name))
    return [
      name,
      name.endsWith('.woff2') ? body.length : gzipSync(body, { level: 9 }).length,
    ] as const
  })
  const bounded = sizes.map(([name, size]) => {
    const [, most] = later.find(([chunk]) => chunk.test(name)) ?? []
    return { name, size, most }
  })
  const first = bounded.reduce((sum, { size, most }) => sum + (most === undefined ? size : 0), 0)
  process.stdout.write(`first view: ${first} bytes; ${JSON.stringify(bounded)}\n`)
  expect(bounded.filter(({ size, most = Infinity }) => size > most)).toEqual([])
  expect(first).toBeGreaterThan(20_000)
  expect(first).toBeLessThanOrEqual(mostOfFirstView)
  expect(readFileSync(join(built, 'airproof-verify.js'))).toEqual(
    readFileSync('anchor/verifier/airproof-verify.js'),
  )
  // what every browser and every search engine asks for by itself
  expect(readFileSync(join(built, 'favicon.ico')).subarray(0, 4)).toEqual(Buffer.from([0, 0, 1, 0]))
  expect(readFileSync(join(built, 'robots.txt'), 'utf8')).toContain('Disallow: /data/')
  // the policy of the pages allows neither; the one style inside is the server's (`web-files.ts`)
  expect(readFileSync(join(built, 'index.html'), 'utf8')).not.toMatch(
    /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/,
  )
})
