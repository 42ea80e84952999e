/**
 * Everything of a release, in one folder: the npm package, its bill of materials (CycloneDX), the licences
 * of what an operator downloads, the notes, and the sums of all of them, signed if a key is given.
 * usage: npm run release -- FOLDER [--sign SSH_KEY_FILE]
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runTool } from '../runtime/engines/tools.ts'
import { environment } from '../runtime/process/config.ts'
import { ourVersion } from '../runtime/version.ts'
import { type Component, faultOfLicences, licenceLines } from './licences.ts'
import { notesOf } from './notes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const sums = 'SHA256SUMS'

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { sign: { type: 'string' } },
    allowPositionals: true,
  })
  const [folder = ''] = positionals
  if (folder === '') throw new Error('usage: npm run release -- FOLDER [--sign SSH_KEY_FILE]')
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty: name a new folder`)
  const npm = (...args: string[]): Promise<string> =>
    runTool('npm', [...args, '--prefix', root], { env: environment(), timeoutMs: 300_000 })

  await npm('pack', '--pack-destination', folder)
  const sbom = await npm(
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--omit',
    'dev',
    '--package-lock-only',
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as npm writes it
  const { components } = JSON.parse(sbom) as { components: readonly Component[] }
  const fault = faultOfLicences(components)
  if (fault !== undefined) throw new Error(fault)
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('sbom.cdx.json', sbom)
  write('LICENCES.txt', licenceLines(components).join('\n'))
  write('NOTES.md', notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), ourVersion()))
  const names = readdirSync(folder).toSorted()
  write(sums, names.map((name) => `${sha256Of(join(folder, name))}  ${name}\n`).join(''))
  if (values.sign !== undefined) {
    const args = ['-Y', 'sign', '-f', values.sign, '-n', 'airproof', join(folder, sums)]
    await runTool('ssh-keygen', args, { env: environment(), timeoutMs: 10_000 })
  }
  for (const name of readdirSync(folder)) process.stdout.write(`${join(folder, name)}\n`)
}

const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

await main()
