/** The service as an operator runs it: `airproof up` as a child, commands as further children. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Child, exitInWords, startChild } from '../../runtime/machine/child.ts'
import {
  type RunningInstance,
  readRunningInstance,
} from '../../runtime/machine/running-instance.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../../test/support/eventually.ts'
import { type TestBucket, testInflux } from '../../test/support/influx.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { influxRows, type StoredRows, sqliteRows } from './stored-rows.ts'

export type StoreName = 'sqlite' | 'influx'

export type RunningCity = AsyncDisposable & {
  readonly instance: RunningInstance
  readonly stored: StoredRows
  /** A command that does not end with 0 throws with all its output. */
  readonly command: (...args: readonly string[]) => Promise<Output>
}

export type Output = { readonly printed: string; readonly notes: readonly string[] }

const program = fileURLToPath(new URL('../../bin/airproof.mjs', import.meta.url))

/** An empty city in a folder of its own, gone when disposed. @param note takes what is logged */
export async function startCity(
  store: StoreName,
  note: (line: string) => void,
): Promise<RunningCity> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder())
  const data = join(folder.path, 'data')
  const influx = store === 'influx' ? opened.use(await testInflux()) : undefined
  const bucket = await influx?.newBucket()
  // hundreds of pages, faster than the limit of any account
  const quotas = { AIRPROOF_QUOTA_PREMIUM: '1000000', AIRPROOF_BURST_PREMIUM: '1000000' }
  const env = {
    ...environment(),
    AIRPROOF_LOG: 'warn',
    ...quotas,
    ...(bucket && influxSettings(bucket)),
  }

  const start = (...args: readonly string[]): Promise<Started> =>
    startAirproof([...args, '--data', data], env, note)
  const ports = ['api', 'dashboard', 'mqtt', 'push', 'admin'].flatMap((name) => [
    `--${name}-port`,
    '0',
  ])
  const up = await start('up', ...ports)
  // its own children have ten seconds, so it needs more
  opened.defer(async () => void (await up.child.stop({ graceMs: 30_000 })))
  const look = (): RunningInstance | undefined => {
    if (!up.child.isAlive()) throw new Error(`up ended: ${up.lines.notes.join('\n')}`)
    return readRunningInstance(data)
  }
  const instance = await eventually('the city is up', look, { withinMs: 240_000 })
  const closing = opened.move()
  return {
    instance,
    stored: bucket ? influxRows(bucket) : sqliteRows(join(data, 'readings.sqlite')),
    command: async (...args) => {
      const { child, lines } = await start(...args)
      const exit = await child.exited
      const printed = lines.printed.join('\n')
      if (exit.code === 0) return { printed, notes: lines.notes }
      const all = [printed, ...lines.notes].join('\n')
      throw new Error(`airproof ${args[0]} ended with ${exitInWords(exit)}:\n${all}`)
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

type Started = {
  readonly child: Child
  readonly lines: { readonly printed: string[]; readonly notes: string[] }
}

async function startAirproof(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  note: (line: string) => void,
): Promise<Started> {
  const lines = { printed: [] as string[], notes: [] as string[] }
  const child = await startChild({
    command: process.execPath,
    args: [program, ...args],
    env,
    onLine: (line, from) => {
      lines[from === 'stdout' ? 'printed' : 'notes'].push(line)
      // a lasting process logs there; of a command it is the answer
      if (from === 'stderr' || args[0] === 'up') note(line)
    },
  })
  return { child, lines }
}

const influxSettings = ({ url, token, org, bucket }: TestBucket) => ({
  INFLUX_URL: url,
  INFLUX_TOKEN: token,
  INFLUX_ORG: org,
  INFLUX_BUCKET: bucket,
})
