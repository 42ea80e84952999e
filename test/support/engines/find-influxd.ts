/**
 * Finds an influxd 2 on this machine, or builds one: PATH, what was built before, else built
 * from its Go module. Tests and benchmarks need one; in production `INFLUX_URL` names a server.
 */
import { join } from 'node:path'
import { cacheFolder, makeOnce } from '../../../runtime/engines/engine-cache.ts'
import { withFileLock } from '../../../runtime/engines/file-lock.ts'
import { isProgram, onPath, programFile, runTool } from '../../../runtime/engines/tools.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { buildInfluxd, missingForBuild } from './build-influxd.ts'

export const influxdVersion = '2.9.1'

export type FoundInfluxd =
  | { readonly path: string }
  /** What a person can do about it, in one line. */
  | { readonly missing: string }

type FindOptions = {
  readonly env: Environment
  /** Receives one line about each step that takes minutes. */
  readonly note?: (line: string) => void
}

/** The first time on a machine this may build for some ten minutes. */
export async function findInfluxd({
  env,
  note = () => undefined,
}: FindOptions): Promise<FoundInfluxd> {
  const installed = onPath('influxd', env)
  if (installed !== undefined && (await isVersion2(installed, env))) return { path: installed }
  const folder = join(cacheFolder(env), `influxd-${influxdVersion}`)
  const path = join(folder, programFile('influxd'))
  if (isProgram(path)) return { path }

  const needed = missingForBuild(env)
  if (needed.length > 0) return { missing: advice(`${needed.join(', ')} to build one`) }
  try {
    await withFileLock(`${folder}.lock`, async () => {
      // another process may have built it while this one waited
      if (isProgram(path)) return
      note(`building influxd ${influxdVersion}, once on this machine: about ten minutes`)
      await makeOnce(folder, async (aside) => {
        const built = join(aside, programFile('influxd'))
        await buildInfluxd({ to: built, version: influxdVersion, env, note })
        if (!(await isVersion2(built, env))) throw new Error('what was built does not run')
      })
    })
    return { path }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { missing: `${advice('a working Go and Rust')} (building it failed: ${why})` }
  }
}

const advice = (orElse: string): string =>
  `no influxd 2 on this machine: install influxd ${influxdVersion}, or set INFLUX_URL, or have ${orElse}`

/** An influxd 1 on PATH has another protocol. */
async function isVersion2(file: string, env: Environment): Promise<boolean> {
  try {
    return /^InfluxDB v?2\./.test(await runTool(file, ['version'], { env, timeoutMs: 20_000 }))
  } catch {
    return false
  }
}
