/**
 * Makes `built/`, what the npm package runs: Node does not take the types out of what is in a folder
 * `node_modules`. Every module that a command can reach is there as JavaScript, line by line as its
 * source, beside the files that it reads. In a clone nothing uses it.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool } from '../runtime/engines/tools.ts'
import { environment } from '../runtime/process/config.ts'
import { ourVersion } from '../runtime/version.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const built = join(root, 'built')

/** What no module names as a whole: pages, and files that are chosen by name. */
const folders = ['dashboard/web/dist', 'api/proofs/page', 'api/openapi/reference']
const entries = ['bin/airproof.mjs', 'cli/main.ts', 'anchor/verifier/airproof-verify.js']
const swagger = ['swagger-ui.css', 'swagger-ui-bundle.js']

/** The modules of ours that the module imports, and the files that it names beside itself. */
export function namedBy(source: string): readonly string[] {
  const named = source.matchAll(
    /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)(['"])(\.{1,2}\/[^'"\n]+)\1/g,
  )
  return [...named].map(([, , path = '']) => path)
}

/** Without types, and its modules by their new names. */
export const asJavaScript = (source: string): string =>
  stripTypeScriptTypes(source).replaceAll(/(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g, '$1$2.js$1')

async function build(): Promise<void> {
  if (!existsSync(join(root, 'dashboard/web/dist/index.html')))
    throw new Error('the pages are not built: npm run build')
  rmSync(built, { recursive: true, force: true })
  const waiting = entries.map((entry) => join(root, entry))
  const seen = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const path = relative(root, file)
    if (seen.has(file) || path.startsWith('node_modules')) continue
    seen.add(file)
    if (/\.(ts|js|mjs)$/.test(file)) {
      const source = readFileSync(file, 'utf8')
      for (const name of namedBy(source)) {
        const target = join(dirname(file), name)
        if (/\.\w+$/.test(name) && existsSync(target)) waiting.push(target)
      }
      write(path.replace(/\.ts$/, '.js'), file.endsWith('.ts') ? asJavaScript(source) : source)
    } else cpSync(file, ensured(path))
  }
  for (const folder of folders) cpSync(join(root, folder), join(built, folder), { recursive: true })
  for (const name of swagger)
    cpSync(
      join(root, 'node_modules/swagger-ui-dist', name),
      ensured(`api/openapi/reference/${name}`),
    )
  const about = {
    name: 'airproof',
    version: ourVersion(),
    type: 'module',
    commit: await commitOf(),
  }
  write('package.json', `${JSON.stringify(about, undefined, 2)}\n`)
  process.stderr.write(`built: ${seen.size} modules and files\n`)
}

/** With `-dirty` if a file differs from it. */
async function commitOf(): Promise<string> {
  const args = ['-C', root, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  return (await runTool('git', args, { env: environment(), timeoutMs: 20_000 })).trim()
}

function ensured(path: string): string {
  const target = join(built, path)
  mkdirSync(dirname(target), { recursive: true })
  return target
}

const write = (path: string, text: string): void => writeFileSync(ensured(path), text)

if (import.meta.main) await build()
