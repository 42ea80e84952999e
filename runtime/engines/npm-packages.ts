/**
 * npm packages that cannot be among ours (one needs another TypeScript), installed once
 * per machine into the user's cache.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../settings.ts'
import { cacheFolder, makeOnce } from './engine-cache.ts'
import { onPath, runTool } from './tools.ts'

/**
 * @param name of the folder in the cache: another one if the packages change
 * @param packages each with its exact version
 * @returns the folder that holds `node_modules`, or why they are not available
 */
export async function npmPackages(
  name: string,
  packages: readonly string[],
  env: Environment,
): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const npm = onPath('npm', env)
  if (npm === undefined) return { missing: 'npm is not on this machine' }
  const folder = join(cacheFolder(env), name)
  if (existsSync(folder)) return { folder }
  try {
    await makeOnce(folder, async (aside) => {
      const what = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
      await runTool(npm, [...what, '--prefix', aside, ...packages], { env, timeoutMs: 240_000 })
    })
    return { folder }
  } catch (error) {
    const message = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : ''
    return { missing: `npm could not fetch ${packages.join(', ')}: ${message.slice(0, 200)}` }
  }
}
