/** What was handed out once is written byte for byte the same today. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bundleText } from '../../core/proof/bundle.ts'
import { manifestText, parseManifest } from '../../operate/exports/export-manifest.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { partsOfBundle } from '../support/export-of-bundles.ts'

const keccak = await createKeccak()
const folder = 'test/fixtures/bundles'
const samples = readdirSync(folder).filter((name) => name.endsWith('.airproof.json'))

test.each(samples)('the bundle %s', (name) => {
  const text = readFileSync(`${folder}/${name}`, 'utf8')
  expect(bundleText(partsOfBundle(text), keccak)).toBe(text)
})

test.each([
  'export-0.1/all.ndjson',
  'export-0.1/part.csv',
  'export-2/all.ndjson',
  'export-2/all.csv',
  'export-2/part.csv',
])('the manifest of %s', (name) => {
  const text = readFileSync(`test/fixtures/${name}.manifest.json`, 'utf8')
  const manifest = parseManifest(text)
  expect(manifest && manifestText(manifest)).toBe(text)
})
