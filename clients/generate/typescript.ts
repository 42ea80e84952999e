import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npmPackages } from '../../runtime/engines/npm-packages.ts'
import { runTool } from '../../runtime/engines/tools.ts'
import type { Environment } from '../../runtime/settings.ts'
import type { OpenApi } from './shape.ts'

/** Not among our own packages: they need an older TypeScript than ours. */
export const openApiTools = [
  'openapi-tools-1',
  ['@redocly/cli@2.77.0', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
] as const

/** @returns the text of `schema.ts`, or why it cannot be made */
export async function typescriptTypes(
  document: OpenApi,
  env: Environment,
): Promise<{ readonly text: string } | { readonly missing: string }> {
  const tools = await npmPackages(...openApiTools, env)
  if ('missing' in tools) return tools
  await using folder = await mkdtempDisposable(join(tmpdir(), 'airproof-clients-'))
  const input = join(folder.path, 'openapi.json')
  const output = join(folder.path, 'schema.ts')
  await writeFile(input, JSON.stringify(document))
  const program = join(tools.folder, 'node_modules/openapi-typescript/bin/cli.js')
  await runTool(process.execPath, [program, input, '-o', output, '--immutable'], {
    env,
    timeoutMs: 120_000,
  })
  return { text: await readFile(output, 'utf8') }
}
