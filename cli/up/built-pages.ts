import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf, MustAct } from '../../runtime/exit.ts'
import { startChild } from '../../runtime/machine/child.ts'
import type { Environment } from '../../runtime/settings.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = [
  'dashboard/web/**/*.{ts,tsx,css,html,svg,json}',
  'anchor/verifier/airproof-verify.js',
  'core/**/*.ts',
]

type Options = {
  readonly env: Environment
  readonly note: (line: string) => void
  /** Where `npm run build` puts them. */
  readonly folder?: string
}

/**
 * Builds the dashboard's pages where they are missing or older than their sources.
 * @throws MustAct
 */
export async function ensureBuiltPages({
  env,
  note,
  folder = join(root, 'dashboard/web/dist'),
}: Options): Promise<void> {
  if (builtMs(folder) >= newestSourceMs()) return
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  if (!existsSync(vite)) {
    if (existsSync(join(folder, 'index.html'))) return
    throw new MustAct(
      'the dashboard’s pages are not built, and vite is not there to build them: run `npm ci`',
    )
  }
  note('building the dashboard’s pages, once')
  // beside the old ones, which a browser may be loading
  const aside = `${folder}.${process.pid}`
  const output: string[] = []
  const args = [vite, 'build', join(root, 'dashboard/web'), '--outDir', aside, '--emptyOutDir']
  try {
    await using child = await startChild({
      command: process.execPath,
      args,
      env,
      cwd: root,
      onLine: (line) => output.push(line),
    })
    const { code } = await child.exited
    if (code !== 0)
      throw new MustAct(`the dashboard’s pages cannot be built: ${output.slice(-5).join(' ')}`)
    rmSync(folder, { recursive: true, force: true })
    try {
      renameSync(aside, folder)
    } catch (error) {
      // another start has built them at the same moment
      if (codeOf(error) !== 'ENOTEMPTY' || builtMs(folder) === 0) throw error
    }
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const builtMs = (folder: string): number =>
  existsSync(join(folder, 'index.html')) ? statSync(join(folder, 'index.html')).mtimeMs : 0

const newestSourceMs = (): number =>
  sources
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ['dashboard/web/dist*/**'] }))
    .reduce((newest, file) => Math.max(newest, statSync(join(root, file)).mtimeMs), 0)
