import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { processService } from '../../cli/up/process.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { openLog } from '../../runtime/log.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { keepAlive } from '../../runtime/machine/keep-alive.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { type Health, watchSilence } from '../../runtime/machine/watch-silence.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { standIn } from '../support/stand-ins/spec.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const script = fileURLToPath(new URL('../support/stand-ins/up.ts', import.meta.url))
const env = environment()
const log = openLog({ name: 'test', level: 'silent' })

type Up = AsyncDisposable & {
  readonly child: Child
  readonly data: string
  readonly printed: string[]
  readonly journal: () => string[]
}

async function startUp(folder: string, names: readonly string[], port = 0): Promise<Up> {
  const data = join(folder, 'data')
  const journal = join(folder, 'journal')
  const printed: string[] = []
  const child = await startChild({
    command: process.execPath,
    args: [script, data, journal, String(port), ...names],
    env,
    onLine: (line) => printed.push(line),
  })
  return {
    child,
    data,
    printed,
    journal: () => readLines(journal),
    [Symbol.asyncDispose]: async () => void (await child.stop()),
  }
}

const readLines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []

const untilReady = (up: Up) =>
  eventually('ready.json is there', () => {
    if (!up.child.isAlive()) throw new Error(`the supervisor ended: ${up.printed.join(' | ')}`)
    return readRunningInstance(up.data)
  })

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('what is started last stops first, and ready.json goes before anything stops', async () => {
  using folder = temporaryFolder()
  await using up = await startUp(folder.path, ['first', 'second'])
  const { pids } = await untilReady(up)
  expect(Object.keys(pids)).toEqual(['up', 'nats-server', 'first', 'second'])
  expect((statSync(join(up.data, 'ready.json')).mode & 0o777).toString(8)).toBe('600')
  expect((statSync(up.data).mode & 0o777).toString(8)).toBe('700')
  up.child.kill('SIGINT')
  expect(await up.child.exited).toEqual({ code: 0, signal: null })
  expect(up.journal().map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'start first',
    'start second',
    'stop second',
    'stop first',
  ])
  expect(readRunningInstance(up.data)).toBeUndefined()
  expect(Object.values(pids).filter(isRunning)).toEqual([])
})

test.each(['nats-server', 'first'])('a killed %s is started again', async (name) => {
  using folder = temporaryFolder()
  await using up = await startUp(folder.path, ['first'])
  const { pids } = await untilReady(up)
  process.kill(pids[name] ?? 0, 'SIGKILL')
  const after = await eventually('another pid in ready.json', () => {
    const now = readRunningInstance(up.data)?.pids
    return now && now[name] !== pids[name] ? now : undefined
  })
  expect(isRunning(after[name] ?? 0)).toBe(true)
  expect(up.child.isAlive()).toBe(true)
})

test('after kill -9 of the supervisor nothing of it is left, and the next start continues', async () => {
  using folder = temporaryFolder()
  await using killed = await startUp(folder.path, ['first'])
  const { pids: before } = await untilReady(killed)
  killed.child.kill('SIGKILL')
  await killed.child.exited
  for (const [name, pid] of Object.entries(before))
    await eventually(`${name} is gone`, () => !isRunning(pid))
  await using next = await startUp(folder.path, ['first'])
  const { pids: after } = await eventually('a new ready.json', () => {
    const now = readRunningInstance(next.data)
    return now && now.pids['up'] !== before['up'] ? now : undefined
  })
  expect(isRunning(after['nats-server'] ?? 0)).toBe(true)
})

test('a program that is not ours is ended when its parent is killed, and left alone else', async () => {
  const script = `import { startChild } from '${pathToFileURL('runtime/machine/child.ts').href}'
const start = (isGuarded) => startChild({ command: 'sleep', args: ['600'], env: process.env, isGuarded, onLine: () => {} })
const [guarded, other] = [await start(true), await start(false)]
console.log(guarded.pid + ' ' + other.pid)
setInterval(() => {}, 1e6)`
  const printed: string[] = []
  await using parent = await startChild({
    command: process.execPath,
    args: ['--input-type=module', '-e', script],
    env,
    onLine: (line) => printed.push(line),
  })
  const pids = await eventually('both run', () => printed[0]?.split(' ').map(Number))
  const [guarded = 0, other = 0] = pids
  parent.kill('SIGKILL')
  await eventually('the guarded one is gone', () => !isRunning(guarded))
  expect(isRunning(other)).toBe(true)
  process.kill(other, 'SIGKILL')
})

test('a port in use is one clear line and exit code 1', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const other = createServer()
  resources.defer(() => void other.close())
  const url = await listenOn(other, { host: '127.0.0.1', port: 0, setting: '' })
  await using up = await startUp(folder.path, ['first'], Number(new URL(url).port))
  expect(await up.child.exited).toEqual({ code: 1, signal: null })
  expect(up.printed).toEqual([
    `airproof: port ${new URL(url).port} is in use: stop what uses it, or choose another with AIRPROOF_API_PORT (--api-port)`,
  ])
})

test('a folder in use by another one is one clear line and exit code 1', async () => {
  using folder = temporaryFolder()
  await using first = await startUp(folder.path, [])
  const { pids } = await untilReady(first)
  await using second = await startUp(folder.path, [])
  expect(await second.child.exited).toEqual({ code: 1, signal: null })
  expect(second.printed).toEqual([
    `airproof: another airproof (process ${pids['up']}) is up on ${first.data}: stop it, or choose another folder with --data`,
  ])
  expect(readRunningInstance(first.data)?.pids['up']).toBe(pids['up'])
})

test('a vital process that keeps exiting is given up, and its last line is in the error', async () => {
  using folder = temporaryFolder()
  const journal = join(folder.path, 'journal')
  const service = processService({ ...standIn('tired', journal, 75), env, log, output: { write } })
  const keeping = { log, bound: { ends: 3, withinMs: 60_000 }, firstPauseMs: 1 }
  await using kept = await keepAlive(service, keeping)
  await expect(kept.failed).rejects.toThrow(
    'tired exited 3 times within 60 s, last with exit code 75: tired has no reason to live',
  )
  expect(readLines(journal)).toHaveLength(3)
})

test('a service that is not vital is restarted without end, after longer and longer pauses, and is degraded until it runs', async () => {
  using folder = temporaryFolder()
  const journal = join(folder.path, 'journal')
  const tired = processService({ ...standIn('tired', journal, 75), env, log, output: { write } })
  const rested = processService({ ...standIn('tired', journal), env, log, output: { write } })
  let current = tired
  const service = { name: 'tired', start: () => current.start() }
  const reported: (string | undefined)[] = []
  const keeping = {
    log,
    isVital: false,
    bound: { ends: 3, withinMs: 2_000 },
    firstPauseMs: 1,
    onRestart: () => reported.push(kept.degraded()),
  }
  await using kept = await keepAlive(service, keeping)
  await eventually('it exited more often than a vital one may', () => {
    return readLines(journal).length >= 6
  })
  expect(kept.degraded()).toMatch(/^it exited \d+ times, last with exit code 75/)
  current = rested
  await eventually('it runs', () => kept.degraded() === undefined)
  expect(reported.at(-1)).toBeUndefined()
  expect(readLines(journal).at(-1)).toMatch(/^start tired/)
})

test('a side process that cannot run does not stop the others from starting, and is reported', async () => {
  using folder = temporaryFolder()
  await using up = await startUp(folder.path, ['tired', 'pipeline'])
  const instance = await untilReady(up)
  expect(Object.keys(instance.degraded ?? {})).toEqual(['tired'])
  expect(instance.pids).toHaveProperty('pipeline')
  expect(up.child.isAlive()).toBe(true)
  expect(up.printed.join('\n')).toContain('tired keeps exiting: the rest continues without it')
})

test('a frozen process is killed and restarted; one that is busy for a while is not', async () => {
  using folder = temporaryFolder()
  const journal = join(folder.path, 'journal')
  const service = processService({ ...standIn('frozen', journal), env, log, output: { write } })
  const silence = { everyMs: 20, answerWithinMs: 300, unanswered: 8 }
  await using kept = await keepAlive(service, { log, firstPauseMs: 1, silence })
  await eventually('it is ready', async () => (await service.whyNotReady()) === undefined)
  const first = kept.pid()
  // two or three of eight
  process.kill(first, 'SIGSTOP')
  expect(await service.health?.(600)).toBe('silent')
  process.kill(first, 'SIGCONT')
  await eventually('it answers', async () => (await service.health?.(5_000)) === 'answered')
  expect(kept.pid()).toBe(first)
  process.kill(first, 'SIGSTOP')
  await eventually('another one runs', () => kept.pid() !== first)
  await eventually('that one is ready', async () => (await service.whyNotReady()) === undefined)
  expect(isRunning(first)).toBe(false)
})

test('a process is frozen only after several requests in a row that it accepts and never answers', async () => {
  const answers: Health[] = [
    'silent',
    'answered',
    'silent',
    'not listening',
    'silent',
    'silent',
    'silent',
  ]
  const stop = new AbortController()
  const frozenAfter: number[] = []
  let checks = 0
  await watchSilence({
    check: async () => {
      if (checks === answers.length) stop.abort()
      return answers[checks++] ?? 'answered'
    },
    bound: { everyMs: 1, answerWithinMs: 1, unanswered: 2 },
    onFrozen: () => frozenAfter.push(checks),
    stop: stop.signal,
  })
  expect(frozenAfter).toEqual([6])
})

test('one of the lines that a process repeats is shown, and all others', async () => {
  const lines: string[] = []
  const to = { write: (line: string) => void lines.push(line) }
  const script = `for (let i = 0; i < 50; i++) {
    console.log('{"level":"warn","msg":"NATS is away"}')
    console.log('plainly the same')
    console.log('{"level":"info","msg":"told ' + i + '"}')
  }`
  const service = processService({
    name: 'loud',
    args: ['-e', script],
    hasAdmin: false,
    env,
    log: openLog({ name: 'up', level: 'info', to }),
    output: to,
  })
  await (await service.start()).exited
  const count = (text: string) => lines.filter((line) => line.includes(text)).length
  expect([count('NATS is away'), count('plainly the same'), count('told')]).toEqual([1, 1, 50])
})

test('a process that exits with the code of wrong usage is not restarted', async () => {
  using folder = temporaryFolder()
  const journal = join(folder.path, 'journal')
  const service = processService({ ...standIn('wrong', journal, 2), env, log, output: { write } })
  await using kept = await keepAlive(service, { log, firstPauseMs: 1 })
  await expect(kept.failed).rejects.toThrow('wrong cannot run (exit code 2')
  expect(readLines(journal)).toHaveLength(1)
})

test('a process that ignores SIGTERM is killed after its grace', async () => {
  const started = Promise.withResolvers<void>()
  const child = await startChild({
    command: process.execPath,
    args: ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); console.log('up')"],
    env,
    onLine: () => started.resolve(),
  })
  await started.promise
  expect(await child.stop({ graceMs: 100 })).toEqual({ code: null, signal: 'SIGKILL' })
})

function write(): void {
  // the stand-ins' log is of no interest here
}
