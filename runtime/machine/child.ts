/**
 * A child process that is never left running: it has its own process group (a terminal's Ctrl-C
 * reaches only us, so children stop in our order), it receives SIGTERM and after a grace SIGKILL, and
 * when we are killed, one of our own processes sees the channel close and a guard ends any other.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { MustAct } from '../exit.ts'
import type { Environment } from '../settings.ts'
import { guardChild } from './child-guard.ts'

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

export type Child = AsyncDisposable & {
  readonly pid: number
  /** Resolves, never rejects, when the process is gone. */
  readonly exited: Promise<Exit>
  readonly isAlive: () => boolean
  readonly kill: (signal: NodeJS.Signals) => void
  /** SIGTERM, then SIGKILL after the grace. Resolves when the process is gone. */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<Exit>
}

export type ChildOptions = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd?: string
  /** Opens the channel by which one of our own processes (`stop-signal.ts`) notices our death. */
  readonly hasChannel?: boolean
  /** Not our own program, so it cannot notice our death: a guard then sends it SIGTERM (`child-guard.ts`). */
  readonly isGuarded?: boolean
  /** Each line that the child writes, without its end. */
  readonly onLine: (line: string, from: 'stdout' | 'stderr') => void
}

const stopGraceMs = 10_000

/** Resolves when the process runs. @throws MustAct if it cannot be started */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args, env, cwd, hasChannel = false, onLine } = options
  const { isGuarded = false } = options
  const child = spawn(command, args, {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])],
  })
  const exited = exitOf(child)
  readLines(child.stdout, (line) => onLine(line, 'stdout'))
  readLines(child.stderr, (line) => onLine(line, 'stderr'))
  try {
    await once(child, 'spawn')
  } catch (cause) {
    throw new MustAct(`cannot start ${command}`, { cause })
  }
  if (isGuarded && child.pid !== undefined) guardChild(child.pid, exited)
  return handleOf(child, exited)
}

function handleOf(child: ChildProcess, exited: Promise<Exit>): Child {
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  const stop: Child['stop'] = async ({ graceMs = stopGraceMs } = {}) => {
    if (isAlive()) child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    try {
      return await exited
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    pid: child.pid ?? 0,
    exited,
    isAlive,
    kill: (signal) => void child.kill(signal),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  }
}

/** Waits for the end of the output too, so the last lines of a dying process are read. */
const exitOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }))
    child.once('close', (code, signal) => resolve({ code, signal }))
  })

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream) createInterface({ input: stream }).on('line', onLine)
}

/** `exit code 75` or `SIGKILL`. */
export const exitInWords = ({ code, signal }: Exit): string =>
  signal ?? (code === null ? 'never started' : `exit code ${code}`)
