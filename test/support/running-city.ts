/** The whole of `airproof up` as an operator starts it, on free ports, until disposed. */

import { resolve } from 'node:path'
import { ownUsers } from '../../runtime/engines/nats-users.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import {
  type RunningInstance,
  readRunningInstance,
} from '../../runtime/machine/running-instance.ts'
import { environment } from '../../runtime/process/config.ts'
import type { Environment } from '../../runtime/settings.ts'
import { eventually } from './eventually.ts'

export type RunningCity = AsyncDisposable & {
  readonly child: Child
  readonly printed: readonly string[]
  readonly instance: RunningInstance
}

/** Nine processes start at once, and other tests may be at work on the same two cores. */
const startedWithin = { withinMs: 180_000 }

/** The line of `cli/up/denials.ts` about one of our own processes. */
export const isDenial = new RegExp(`\\b(${ownUsers.join('|')}) may not (publish|subscribe) to\\b`)

type Options = {
  readonly flags?: readonly string[]
  readonly env?: Environment
  /** The folder with its `.env`. */
  readonly cwd?: string
}

/** @param data the data folder */
export async function runCity(
  data: string,
  { flags = [], env = {}, cwd = '.' }: Options = {},
): Promise<RunningCity> {
  const printed: string[] = []
  const ports = ['api', 'dashboard', 'mqtt', 'push', 'admin'].flatMap((name) => [
    `--${name}-port`,
    '0',
  ])
  const child = await startChild({
    command: process.execPath,
    args: [resolve('bin/airproof.mjs'), 'up', '--data', data, ...ports, ...flags],
    env: { ...environment(), ...env },
    cwd,
    onLine: (line) => printed.push(line),
  })
  const instance = await eventually(
    'ready.json is there',
    () => {
      if (!child.isAlive()) throw new Error(`up ended: ${printed.join('\n')}`)
      return readRunningInstance(data)
    },
    startedWithin,
  )
  await eventually('the welcome is printed', () =>
    printed.some((line) => line.startsWith('Ctrl-C')),
  )
  return {
    child,
    printed,
    instance,
    [Symbol.asyncDispose]: async () => {
      await child.stop()
      // the supervisor's lines about what the server denied to one of our own processes
      const denied = printed.filter((line) => isDenial.test(line))
      if (denied.length > 0) throw new Error(denied.slice(0, 5).join('\n'))
    },
  }
}
