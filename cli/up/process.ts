import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { secondMs } from '../../core/time.ts'
import { fewRepeats } from '../../runtime/few-repeats.ts'
import type { Logger } from '../../runtime/log.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort, takenPorts } from '../../runtime/machine/free-port.ts'
import type { Service } from '../../runtime/machine/keep-alive.ts'
import { checkHealth } from '../../runtime/machine/watch-silence.ts'
import type { Environment } from '../../runtime/settings.ts'
import { askReady } from '../shell/status-local.ts'

/** One of our own processes, as the supervisor starts it. */
export type ProcessSpec = {
  readonly name: string
  /** The arguments of `node`. */
  readonly args: readonly string[]
  /** It has an admin port, and counts as started when `/ready` there answers 200. */
  readonly hasAdmin: boolean
  /** Always the same; absent or 0: another one at each start. */
  readonly adminPort?: number
}

export type ProcessService = Service & {
  /** Why it is not ready yet, or undefined when it is. */
  readonly whyNotReady: () => Promise<string | undefined>
  /** The URL of its admin port; undefined: it has none. */
  readonly admin: () => string | undefined
}

type Options = ProcessSpec & {
  readonly env: Environment
  readonly log: Logger
  /** Takes the JSON lines that the process logs. */
  readonly output: { readonly write: (line: string) => void }
}

const closesWithinMs = 3 * secondMs

const program = fileURLToPath(new URL('../../bin/airproof.mjs', import.meta.url))

/**
 * A million waiting deliveries are 195 MB with these and 240 without: garbage is collected sooner.
 * With 2 MB of semi-space it would be 180, and a sixth fewer deliveries per second.
 * Webhooks are objects, so the heap needs room.
 */
export const nodeFlags: Readonly<Record<string, readonly string[]>> = {
  notifier: ['--max-semi-space-size=8', '--max-old-space-size=1024'],
}

export const ourProcess = (name: string, ...flags: readonly string[]): ProcessSpec => ({
  name,
  args: [...(nodeFlags[name] ?? []), program, name, ...flags],
  hasAdmin: true,
})

export function processService(options: Options): ProcessService {
  const { name, args, hasAdmin, env, log, output } = options
  let adminPort = 0
  let lastWords: string | undefined
  const { isFirst } = fewRepeats({ say: (words) => log.info({ from: name }, words) })
  const show = (line: string, entry: Entry | undefined): void => {
    // lines of level info and below may repeat: each is about another request
    const isTrouble = entry === undefined || entry.level === 'warn' || entry.level === 'error'
    if (isTrouble && !isFirst(entry?.msg ?? line)) return
    if (entry) output.write(`${line}\n`)
    else log.info({ from: name }, line)
  }
  const start = async (): Promise<Child> => {
    adminPort = hasAdmin ? await portFor(options) : 0
    // those of the run before would be taken for the reason of this one's end
    lastWords = undefined
    return await startChild({
      command: process.execPath,
      args,
      env: { ...env, AIRPROOF_ADMIN_PORT: String(adminPort) },
      hasChannel: true,
      onLine: (line) => {
        const entry = parseEntry(line)
        if (line.trim() !== '') show(line, entry)
        if (entry === undefined || entry.level === 'fatal' || entry.level === 'error')
          lastWords = (entry?.msg ?? line).slice(0, 300)
      },
    })
  }
  const admin = (): string => `http://127.0.0.1:${adminPort}`
  return {
    name,
    start,
    admin: () => (hasAdmin ? admin() : undefined),
    lastWords: () => lastWords,
    ...(hasAdmin ? { health: (withinMs) => checkHealth(adminPort, withinMs) } : {}),
    whyNotReady: async () => (hasAdmin ? await askReady(admin()) : undefined),
  }
}

/**
 * Its own port, which the process before it may still be closing. If another program took it
 * meanwhile, a free one: readings are worth more than their metrics.
 */
async function portFor({ name, adminPort = 0, log }: Options): Promise<number> {
  if (adminPort === 0) return await freePort()
  const deadlineMs = performance.now() + closesWithinMs
  for (;;) {
    const [fault] = await takenPorts([[adminPort, 'AIRPROOF_ADMIN_PORT']])
    if (fault === undefined) return adminPort
    if (performance.now() < deadlineMs) {
      await sleep(100)
      continue
    }
    const port = await freePort()
    log.error(
      { service: name, port },
      `${fault.split(':')[0]}: until its next start ${name} has its metrics on port ${port}. Stop what uses port ${adminPort}, or choose others for all processes with --admin-port`,
    )
    return port
  }
}

type Entry = { readonly level: string; readonly msg: string }

/** A line of a JSON log, or undefined where it is something else. */
function parseEntry(line: string): Entry | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry !== 'object' || entry === null || !('level' in entry)) return undefined
    return { level: String(entry.level), msg: 'msg' in entry ? String(entry.msg) : '' }
  } catch {
    return undefined
  }
}
