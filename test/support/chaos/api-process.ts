/** An API process as an operator runs it, on a port that stays the same when it is restarted. */
import { type Child, startChild } from '../../../runtime/machine/child.ts'
import { freePort } from '../../../runtime/machine/free-port.ts'
import { environment } from '../../../runtime/process/config.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { signInAs } from '../nats.ts'
import { type Supervised, supervise } from './supervised.ts'

type Options = {
  readonly natsUrl: string
  /** Of the pipeline, where the store is. */
  readonly dataFolder: string
  readonly env?: Environment
}
type ApiProcess = Child & { readonly printed: () => readonly string[] }

export type SupervisedApi = Supervised<ApiProcess> & { readonly url: string }

const linesKept = 30

export async function superviseApi({ natsUrl, dataFolder, env }: Options): Promise<SupervisedApi> {
  const port = await freePort()
  const adminPort = await freePort()
  const start = async (): Promise<ApiProcess> => {
    const lines: string[] = []
    const child = await startChild({
      command: process.execPath,
      args: ['bin/airproof.mjs', 'api'],
      env: {
        ...environment(),
        NATS_URL: natsUrl,
        ...signInAs('api'),
        AIRPROOF_DATA: dataFolder,
        AIRPROOF_API_PORT: String(port),
        AIRPROOF_ADMIN_PORT: String(adminPort),
        AIRPROOF_QUOTA_PREMIUM: '1000000',
        AIRPROOF_BURST_PREMIUM: '1000000',
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
  return { ...(await supervise(start)), url: `http://127.0.0.1:${port}` }
}
