/** A pipeline as an operator runs it: its own process, configured by its environment. */

import { type Child, startChild } from '../../../runtime/machine/child.ts'
import { freePort } from '../../../runtime/machine/free-port.ts'
import { environment } from '../../../runtime/process/config.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { eventually } from '../eventually.ts'
import { sumOf } from '../metrics-text.ts'
import { signInAs } from '../nats.ts'
import { type Supervised, supervise } from './supervised.ts'

export type PipelineOptions = {
  readonly natsUrl: string
  readonly dataFolder: string
  /** Further variables, of the store for example. */
  readonly env?: Environment
  readonly nodeArgs?: readonly string[]
}

export type PipelineProcess = Child & {
  /** Resolves when all its partitions are at work. */
  readonly untilReady: () => Promise<void>
  /** The value of a metric, the first if labels make several; undefined if it is missing. */
  readonly metric: (name: string) => Promise<number | undefined>
  /** The sum over the series of a metric; 0: there is none. */
  readonly sum: (name: string) => Promise<number>
  /** Its last lines of output. */
  readonly printed: () => readonly string[]
}

const linesKept = 30

export async function startPipeline(options: PipelineOptions): Promise<PipelineProcess> {
  const { natsUrl, dataFolder, env = {}, nodeArgs = [] } = options
  const port = await freePort()
  const lines: string[] = []
  const child = await startChild({
    command: process.execPath,
    args: [...nodeArgs, 'bin/airproof.mjs', 'pipeline'],
    env: {
      ...environment(),
      NATS_URL: natsUrl,
      ...signInAs('pipeline'),
      AIRPROOF_DATA: dataFolder,
      AIRPROOF_ADMIN_PORT: String(port),
      AIRPROOF_LOG: 'warn',
      ...env,
    },
    onLine: (line) => {
      lines.push(line)
      if (lines.length > linesKept) lines.shift()
    },
  })
  const ask = async (path: string): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).catch(
      () => undefined,
    )
  return {
    ...child,
    printed: () => lines,
    untilReady: async () => {
      await eventually(
        'the pipeline is ready',
        async () => {
          if (!child.isAlive()) throw new Error(`the pipeline ended: ${lines.join('\n')}`)
          return (await ask('/ready'))?.ok
        },
        { everyMs: 50 },
      )
    },
    sum: async (name) => sumOf((await (await ask('/metrics'))?.text()) ?? '', name),
    metric: async (name) => {
      const text = await (await ask('/metrics'))?.text()
      const line = text?.split('\n').find((one) => one.split(/[ {]/, 1)[0] === name)
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
    },
  }
}

export type SupervisedPipeline = Supervised<PipelineProcess>

export const supervisePipeline = (options: PipelineOptions): Promise<SupervisedPipeline> =>
  supervise(() => startPipeline(options))
