import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { isRunning } from '../../runtime/machine/process-list.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const module = pathToFileURL('runtime/process/stop-signal.ts').href

/** A process that says `up`, then `stopping`, and does the rest of the script. */
async function startScript(rest: string): Promise<Child & { readonly printed: readonly string[] }> {
  const printed: string[] = []
  const script = `import { stopSignal, stopped } from '${module}'
const stop = stopSignal()
setInterval(() => {}, 1e6)
console.log('up')
await stopped(stop)
console.log('stopping')
${rest}`
  const child = await startChild({
    command: process.execPath,
    args: ['--input-type=module', '-e', script],
    env: environment(),
    onLine: (line) => printed.push(line),
  })
  await eventually('it is up', () => printed.includes('up'))
  return { ...child, printed }
}

test.concurrent('the echo of a Ctrl-C is not a second one', async () => {
  await using child = await startScript('setTimeout(() => process.exit(0), 100)')
  child.kill('SIGINT')
  child.kill('SIGINT')
  expect(await child.exited).toEqual({ code: 0, signal: null })
})

test.concurrent('a second SIGTERM ends a process at once that does not come to its end', async () => {
  await using child = await startScript('')
  child.kill('SIGTERM')
  await eventually('the first is heard', () => child.printed.includes('stopping'))
  await eventually('the second is heard', () => {
    child.kill('SIGTERM')
    return !child.isAlive()
  })
  expect(await child.exited).toEqual({ code: 143, signal: null })
})

test.concurrent('a process that cannot come to its end ends itself, so that a killed supervisor leaves none', async () => {
  const printed: string[] = []
  const script = `import { processCommand } from '${pathToFileURL('cli/shell/process-command.ts').href}'
import { stopSignal } from '${module}'
setInterval(() => {}, 1e6)
const load = async () => async () => { console.log('up'); await new Promise(() => {}) }
const stop = stopSignal()
await processCommand({ name: 'stuck', summary: '', load }).run({
  env: { ...process.env }, flags: {}, words: [], stop, isTerminal: false,
  print: console.log, note: console.log,
})`
  using folder = temporaryFolder()
  await using child = await startChild({
    command: process.execPath,
    args: ['--input-type=module', '-e', script],
    env: { ...environment(), AIRPROOF_DATA: folder.path },
    onLine: (line) => printed.push(line),
  })
  await eventually('it is up', () => printed.includes('up'))
  child.kill('SIGTERM')
  expect(await child.exited).toEqual({ code: 75, signal: null })
  expect(printed.at(-1)).toBe('stuck did not stop within 10 s: ended')
})

test.concurrent('what npm runs by a shell stops when that shell is ended; what another shell runs goes on', async () => {
  using folder = temporaryFolder()
  /** A process that waits for a NATS which is not there, and the shell that it is a child of. */
  const inShell = async (npmEvent: string) => {
    const printed: string[] = []
    const shell = await startChild({
      command: 'sh',
      args: ['-c', `'${process.execPath}' bin/airproof.mjs gate & echo $!; wait`],
      env: {
        ...environment(),
        npm_lifecycle_event: npmEvent,
        AIRPROOF_DATA: folder.path,
        AIRPROOF_LOG: 'info',
        NATS_URL: 'nats://127.0.0.1:1',
      },
      onLine: (line) => printed.push(line),
    })
    await eventually('it waits for NATS', () => printed.some((line) => line.includes('NATS')))
    return { pid: Number(printed[0]), end: () => shell.kill('SIGTERM') }
  }
  const [byNpm, other] = await Promise.all([inShell('start'), inShell('')])
  try {
    byNpm.end()
    other.end()
    await eventually('it has stopped', () => !isRunning(byNpm.pid))
    expect(isRunning(other.pid)).toBe(true)
  } finally {
    process.kill(other.pid, 'SIGTERM')
  }
  await eventually('the other one has stopped', () => !isRunning(other.pid))
})
