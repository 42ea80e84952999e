/** Proofs have versions: each verifier knows those of core, refuses newer ones, and old files stay good. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  bundleVersions as verifierBundles,
  headerVersions as verifierHeaders,
  leafVersions as verifierLeaves,
  hardRanges as verifierRanges,
  verifyBundle,
} from '../../anchor/verifier/airproof-verify.js'
import { command as verifyCommand } from '../../cli/verify.ts'
import { quantities, quantityNames } from '../../core/air/quantities.ts'
import { bundleVersions } from '../../core/proof/bundle.ts'
import { headerTypeOf, headerVersions } from '../../core/proof/header.ts'
import { leafTypeOf, leafVersions } from '../../core/proof/leaf.ts'
import { parseManifest } from '../../operate/exports/export-manifest.ts'
import { exportVersions } from '../../operate/exports/manifest-schema.ts'
import { runCommand } from '../support/run-command.ts'
import { canonical, sampleText } from '../support/tampered.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const python = readFileSync('examples/verify-python/verify.py', 'utf8').replace(/'\n\s*'/g, '')
const go = readFileSync('examples/verify-go/bundle.go', 'utf8')
const page = readFileSync('docs/proofs.md', 'utf8')

describe('the verifiers and the page know every version of', () => {
  test.each(bundleVersions)('bundles: $format', ({ format, leaf, header }) => {
    expect(verifierBundles.get(format)).toEqual({ leaf, header })
    expect(python).toContain(`'${format}': (${leaf}, ${header})`)
    expect(page).toContain(`| \`${format}\` | ${leaf} | ${header} |`)
  })

  test.each(exportVersions)('exports: $format', ({ format, leaf, header }) => {
    expect(page).toContain(`| \`${format}\` | ${leaf.join(', ')} | ${header.join(', ')} |`)
  })

  const named = [...bundleVersions, ...exportVersions].flatMap(({ header }): readonly number[] =>
    typeof header === 'number' ? [header] : header,
  )
  const namedHeaders = headerVersions.filter(({ version }) => named.includes(version))

  test.each(namedHeaders)('headers: $version', (row) => {
    const type = headerTypeOf(row)
    const fields = verifierHeaders.get(row.version)
    expect(`airproof.batch.v${row.version}(${fields})`).toBe(type)
    expect(python).toContain(`${row.version}: '${fields}'`)
    expect(page).toContain(type)
  })

  test('leaves: 1', () => {
    const leafType = leafTypeOf(leafVersions[0])
    const values = verifierLeaves.get(1) ?? []
    const words = values.map((name) => `int64 ${name},`).join('')
    expect(leafType).toContain(`airproof.reading.v1(bytes32 sensor,uint64 timeMs,uint64 seq,`)
    expect(leafType).toContain(`uint16 present,${words}uint16 aqi`)
    expect(python).toContain(`1: (${values.map((name) => `'${name}'`).join(', ')})`)
    expect(page).toContain(leafType)
  })

  test('leaves: 2, whose values are named by their ids', () => {
    expect(verifierLeaves.get(2)).toEqual(quantityNames)
    const names = quantityNames.map((name) => `'${name}'`).join(', ')
    expect(python.replace(/,\s+/g, ', ')).toContain(`2: (${names})`)
    expect(readFileSync('anchor/verifier/airproof-verify.js', 'utf8')).toContain(
      `'${leafTypeOf(leafVersions[1])}'`,
    )
    expect(python).toContain(`'${leafTypeOf(leafVersions[1])}'`)
  })

  test.each(leafVersions)('leaves, on the page: $version', (row) => {
    expect(page).toContain(leafTypeOf(row))
  })

  test.each(headerVersions)('headers, on the page: $version', (row) => {
    expect(page).toContain(headerTypeOf(row))
  })

  test.each(quantities.map(({ name, hard }, id) => ({ name, hard, id })))(
    'the id of $name in a leaf of version 2, and its hard range',
    ({ name, hard: { low, high }, id }) => {
      expect(page).toMatch(
        RegExp(
          `^  \\| ${id} \\| \`${name}\` \\|[^|]+\\| ${low} to ${high} \\|$`.replace('-', '−'),
          'm',
        ),
      )
      expect(verifierRanges.get(name)).toEqual([low, high])
      expect(python).toContain(`'${name}': (${low}, ${high})`)
      expect(go).toContain(`"${name}": {${low}, ${high}}`)
    },
  )

  test('and no other', () => {
    expect([verifierBundles.size, verifierHeaders.size]).toEqual([
      bundleVersions.length,
      namedHeaders.length,
    ])
    const known = [...bundleVersions, ...exportVersions].map(({ format }) => format)
    const named = page.match(/^\| `airproof\.\w+\.v\d+` \| [\d, ]+ \| [\d, ]+ \|/gm) ?? []
    expect(named).toHaveLength(known.length)
  })
})

const known = 'airproof.proof.v1, airproof.proof.v2'

test('a bundle newer than the verifier is refused by a sentence that names all versions', async () => {
  const newer = sampleText('alone').replace('airproof.proof.v1', 'airproof.proof.v3')
  const { ok, checks } = await verifyBundle(newer)
  const why = `its format is airproof.proof.v3, and this verifier knows ${known}: get a newer verifier`
  expect({ ok, checks }).toEqual({ ok: false, checks: [{ name: 'format', ok: false, why }] })
})

test.each(['airproof.proof.v01x', 'toString', '__proto__', 1, null, ['airproof.proof.v1'], {}])(
  'a bundle of no known format is refused as such: %s',
  async (format) => {
    const { ok, checks } = await verifyBundle(
      canonical({ ...JSON.parse(sampleText('alone')), format }),
    )
    expect([ok, checks.at(-1)?.why]).toEqual([
      false,
      `its format is not one that this verifier knows (${known})`,
    ])
  },
)

const exported = [
  'export-0.1/all.ndjson',
  'export-0.1/part.csv',
  // over the border, some of it signed
  'export-2/all.ndjson',
  'export-2/all.csv',
  'export-2/part.csv',
] as const
const manifestOf = (name: string) => `test/fixtures/${name}.manifest.json`

test.each(exported)('what was exported is proven for ever: %s', async (name) => {
  const { code, out } = await runCommand(verifyCommand, { words: [manifestOf(name)] })
  expect([code, out]).toEqual([0, expect.stringContaining('PROVEN')])
})

test('what an export leaves to trust is said of all its rows, not of one', async () => {
  const { out } = await runCommand(verifyCommand, { words: [manifestOf('export-2/all.ndjson')] })
  expect(out).toContain('that nothing which was signed by a name that this airproof does not know')
  expect(out).not.toContain('that nothing which was signed as')
})

test('an export newer than this version is refused by a sentence that names both versions', async () => {
  using folder = temporaryFolder()
  const text = readFileSync(manifestOf('export-0.1/all.ndjson'), 'utf8')
  const newer = text.replace('airproof.export.v1', 'airproof.export.v3')
  const sentence =
    'the export is of format airproof.export.v3, and this version of airproof reads airproof.export.v1, airproof.export.v2'
  expect(() => parseManifest(newer)).toThrow(sentence)
  const file = join(folder.path, 'new.manifest.json')
  writeFileSync(file, newer)
  const { code, err } = await runCommand(verifyCommand, { words: [file] })
  const both = 'is of version 3, and this airproof reads it up to version 2'
  expect([code, err]).toEqual([1, expect.stringContaining(both)])
})
