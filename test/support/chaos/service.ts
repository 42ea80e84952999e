/** One of our processes as an operator runs it, at ports that stay the same when it is restarted. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../../../runtime/machine/child.ts'
import { freePort } from '../../../runtime/machine/free-port.ts'
import { environment } from '../../../runtime/process/config.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { type Supervised, supervise } from './supervised.ts'

type Options = {
  /** The process's word of the command line. */
  readonly name: string
  /** Its data folder is made in it. */
  readonly within: string
  readonly env: Environment
}
type Running = Child & { readonly printed: () => readonly string[] }

export type Service = Supervised<Running> & {
  readonly name: string
  readonly isReady: () => Promise<boolean>
}

const linesKept = 30

export async function superviseService({ name, within, env }: Options): Promise<Service> {
  const adminPort = await freePort()
  const data = mkdtempSync(join(within, `${name}-`))
  const start = async (): Promise<Running> => {
    const lines: string[] = []
    const child = await startChild({
      command: process.execPath,
      args: ['bin/airproof.mjs', name],
      env: {
        ...environment(),
        AIRPROOF_DATA: data,
        AIRPROOF_ADMIN_PORT: String(adminPort),
        AIRPROOF_LOG: 'warn',
        ...env,
      },
      onLine: (line) => {
        lines.push(line)
        if (lines.length > linesKept) lines.shift()
      },
    })
    return { ...child, printed: () => lines }
  }
  const ready = `http://127.0.0.1:${adminPort}/ready`
  return {
    ...(await supervise(start)),
    name,
    isReady: () =>
      // one that is frozen takes the connection and does not answer
      fetch(ready, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      ),
  }
}
