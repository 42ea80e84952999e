/** The package for TypeScript has no `any`, said or meant, in what it declares. */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openApiTools } from '../../clients/generate/typescript.ts'
import { npmPackages } from '../../runtime/engines/npm-packages.ts'
import { runTool } from '../../runtime/engines/tools.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { env } = process
const scan = fileURLToPath(new URL('../support/clients/find-any.cjs', import.meta.url))
const source = fileURLToPath(new URL('../../clients/typescript/', import.meta.url))

const packages = await npmPackages(...openApiTools, env)

/** Each as `file:line name`. */
async function anyIn(folder: string): Promise<readonly string[]> {
  if ('missing' in packages) throw new Error(packages.missing)
  const compiler = createRequire(join(packages.folder, 'x.js')).resolve('typescript')
  return JSON.parse(
    await runTool(process.execPath, [scan, compiler, folder], { env, timeoutMs: 120_000 }),
  )
}

test('the scan finds each kind of any', async ({ skip }) => {
  if ('missing' in packages) return skip(packages.missing)
  using folder = temporaryFolder()
  writeFileSync(
    join(folder.path, 'tsconfig.json'),
    '{"compilerOptions": {"strict": true, "target": "es2022", "types": []}}',
  )
  writeFileSync(
    join(folder.path, 'a.ts'),
    [
      'export const parsed = JSON.parse("1")',
      'export type Said = { readonly field: any }',
      'export const list = [parsed]',
      'export function given(text: string) { return JSON.parse(text) }',
      'export const right: unknown = JSON.parse("1")',
      'export const later = Promise.resolve(parsed)',
    ].join('\n'),
  )
  expect(await anyIn(folder.path)).toEqual([
    'a.ts:1 parsed',
    'a.ts:2 any',
    'a.ts:2 field',
    'a.ts:3 list',
    'a.ts:4 given',
    'a.ts:6 later',
  ])
})

test('nothing that the package declares is any', async ({ skip }) => {
  if ('missing' in packages) return skip(packages.missing)
  expect(await anyIn(source)).toEqual([])
})
