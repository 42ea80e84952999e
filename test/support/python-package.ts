/** A Python package from PyPI for a test, installed once per machine into the user's cache. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, makeOnce } from '../../runtime/engines/engine-cache.ts'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import type { Environment } from '../../runtime/settings.ts'

type Package = {
  readonly name: string
  readonly version: string
  /** Also its dependencies; else only the package itself. */
  readonly withNeeded?: boolean
  /** Of those, the packages that have no wheel. */
  readonly fromSource?: readonly string[]
}

/** For PYTHONPATH, or why it is not available. */
export async function pythonPackage(
  { name, version, withNeeded = false, fromSource = [] }: Package,
  env: Environment,
): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const python = onPath('python3', env) ?? onPath('python', env)
  if (python === undefined) return { missing: 'Python is not on this machine' }
  const folder = join(cacheFolder(env), `${name}-${version}`)
  if (existsSync(folder)) return { folder }
  try {
    await makeOnce(folder, async (aside) => {
      const alone = withNeeded ? [] : ['--no-deps']
      const wheels = ['--only-binary', ':all:', ...fromSource.flatMap((of) => ['--no-binary', of])]
      const what = ['install', ...alone, ...wheels, '--quiet', '--retries', '1']
      await runTool(python, ['-m', 'pip', ...what, '--target', aside, `${name}==${version}`], {
        env,
        timeoutMs: 120_000,
      })
    })
    return { folder }
  } catch (error) {
    const message = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : ''
    return { missing: `pip could not fetch ${name} ${version}: ${message.slice(0, 200)}` }
  }
}
