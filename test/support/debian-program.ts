/** A program that tests use: the machine's own, or, if we are root, Debian's package of it. */
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import type { Environment } from '../../runtime/settings.ts'

type Wanted = {
  /** Any of these will do. */
  readonly names: readonly string[]
  readonly debianPackage: string
}

/** Two test files may need it at once: the second waits for the first one's lock. */
const install = ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '-q', '--no-install-recommends']
const withinMs = 600_000

/** Its full path, or why it is not available. */
export async function debianProgram(
  { names, debianPackage }: Wanted,
  env: Environment,
): Promise<{ readonly file: string } | { readonly missing: string }> {
  const find = (): string | undefined =>
    names.map((name) => onPath(name, env)).find((file) => file !== undefined)
  const onThisMachine = find()
  if (onThisMachine !== undefined) return { file: onThisMachine }
  const apt = onPath('apt-get', env)
  if (apt === undefined || process.getuid?.() !== 0)
    return { missing: `${debianPackage} is not on this machine, and only root can install it` }
  process.stderr.write(`installing ${debianPackage}, once on this machine\n`)
  const run = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: withinMs }
  try {
    await runTool(apt, [...install, debianPackage], run).catch(async () => {
      // a machine without package lists
      await runTool(apt, ['update', '-q'], run)
      await runTool(apt, [...install, debianPackage], run)
    })
  } catch {
    return { missing: `apt-get could not install ${debianPackage}` }
  }
  const installed = find()
  return installed === undefined
    ? { missing: `${debianPackage} has no ${names.join(' or ')}` }
    : { file: installed }
}
