/**
 * Makes `inter.woff2`, the font of all pages: `node dashboard/web/fonts/subset.ts`.
 *
 * The whole font and the program that cuts it are too large to be dependencies: both are fetched by
 * the npm client into a temporary folder and deleted. Run it again when a letter is missing, and
 * commit what it writes: the font, and its licence beside it.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fontLetters } from './letters.ts'

const font = 'inter-ui@4.1.1'
const cutter = 'subset-font@2.9.0'

type Cut = (
  font: Buffer,
  letters: string,
  options: {
    readonly targetFormat: 'woff2'
    readonly variationAxes: Readonly<Record<string, number | { min: number; max: number }>>
    readonly keepFeatures: readonly string[]
  },
) => Promise<Buffer>

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'airproof-font-'))
try {
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  execFileSync('npm', ['install', '--silent', '--no-audit', font, cutter], { cwd: folder })
  // the package's own type is not installed
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const cut = createRequire(join(folder, 'package.json'))('subset-font') as Cut
  const source = join(folder, 'node_modules', 'inter-ui')
  const whole = readFileSync(join(source, 'variable', 'InterVariable.woff2'))
  const small = await cut(whole, fontLetters, {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: 400, max: 700 }, opsz: 16 },
    keepFeatures: ['kern', 'tnum', 'ccmp', 'mark', 'mkmk', 'locl'],
  })
  writeFileSync(at('./inter.woff2'), small)
  copyFileSync(join(source, 'LICENSE.txt'), at('./inter-license.txt'))
  process.stdout.write(`inter.woff2: ${small.length} bytes\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
