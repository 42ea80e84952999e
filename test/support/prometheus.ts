/**
 * Prometheus and its promtool: the machine's own, or Debian's package unpacked into the cache of
 * engines. It is not installed, as that would start a server.
 */

import { readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder, makeOnce } from '../../runtime/engines/engine-cache.ts'
import { isProgram, onPath, runTool } from '../../runtime/engines/tools.ts'
import type { Environment } from '../../runtime/settings.ts'

type Programs = { readonly prometheus: string; readonly promtool: string }

/** Their full paths, or why they are not available. */
export async function findPrometheus(
  env: Environment,
): Promise<Programs | { readonly missing: string }> {
  const [prometheus, promtool] = [onPath('prometheus', env), onPath('promtool', env)]
  if (prometheus !== undefined && promtool !== undefined) return { prometheus, promtool }
  const folder = join(cacheFolder(env), 'prometheus-of-debian')
  const cached = { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') }
  if (isProgram(cached.promtool)) return cached
  const apt = onPath('apt-get', env)
  const dpkg = onPath('dpkg', env)
  if (apt === undefined || dpkg === undefined)
    return { missing: 'there is no promtool on this machine, and no apt-get to fetch one' }
  process.stderr.write('fetching prometheus, once on this machine\n')
  try {
    await makeOnce(folder, (aside) => unpack({ apt, dpkg, aside, env }))
  } catch (error) {
    return { missing: `apt-get could not fetch prometheus: ${String(error).slice(0, 200)}` }
  }
  return cached
}

type Unpacking = {
  readonly apt: string
  readonly dpkg: string
  readonly aside: string
  readonly env: Environment
}

/** apt-get compares the package with the hash in Debian's signed lists. */
async function unpack({ apt, dpkg, aside, env }: Unpacking): Promise<void> {
  const run = { env, timeoutMs: 300_000 }
  const download = `cd "$1" && "$2" -q download prometheus`
  const fetch = (): Promise<string> => runTool('sh', ['-c', download, 'sh', aside, apt], run)
  await fetch().catch(async () => {
    // a machine without package lists
    await runTool(apt, ['update', '-q'], run)
    await fetch()
  })
  const [file = ''] = readdirSync(aside).filter((name) => name.endsWith('.deb'))
  await runTool(dpkg, ['-x', join(aside, file), join(aside, 'unpacked')], run)
  for (const name of ['prometheus', 'promtool'])
    await rename(join(aside, 'unpacked/usr/bin', name), join(aside, name))
  await rm(join(aside, 'unpacked'), { recursive: true })
  await rm(join(aside, file))
}
