import { once } from 'node:events'
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { NoRespondersError, TimeoutError } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { editsBetween, nearest } from '../../core/nearest.ts'
import { isHarmless } from '../../runtime/engines/nats-lines.ts'
import { exitCodeOf, inWords, MustAct, TryAgain, WrongUsage } from '../../runtime/exit.ts'
import { openLog } from '../../runtime/log.ts'
import { openDataFolder } from '../../runtime/machine/data-folder.ts'
import { openMetrics } from '../../runtime/metrics.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import { openAdmin, openDoor } from '../../runtime/process/admin.ts'
import { openInstance } from '../../runtime/process/instance-id.ts'
import { runProcess } from '../../runtime/process/process.ts'
import { isServerAway, orTryAgain } from '../../runtime/server-away.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each([
  [new MustAct('x'), 1],
  [new WrongUsage('x'), 2],
  [new TryAgain('x'), 75],
  [new Error('x'), 1],
  ['x', 1],
])('%s ends a process with %i', (error, code) => expect(exitCodeOf(error)).toBe(code))

test('JetStream that nothing answers for may be back later', () => {
  const cause = new Error('no responders', { cause: new NoRespondersError('$JS.API.INFO') })
  const error = new Error('jetstream is not enabled', { cause })
  expect(isServerAway(error)).toBe(false)
  error.name = 'JetStreamNotEnabled'
  expect(isServerAway(error)).toBe(true)
  expect(orTryAgain(error)).toEqual(
    expect.objectContaining({ name: 'TryAgain', message: expect.stringMatching(/no `jetstream`/) }),
  )
})

test('a full disk is explained', () => {
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  })
  expect(inWords(error)).toMatch(/^the disk is full: make room and start again/)
  expect(inWords(new MustAct('do this'))).toBe('do this')
  expect(inWords(new RangeError('odd'))).toBe('RangeError: odd')
})

test('a process that receives a stop while it waits for NATS ends in order', async () => {
  using folder = temporaryFolder()
  const source = { env: { AIRPROOF_DATA: folder.path, AIRPROOF_LOG: 'silent' }, flags: {} }
  const stop = AbortSignal.abort('SIGTERM')
  const main = () => Promise.reject(stop.reason)
  expect(await runProcess({ name: 'test', main, source, stop })).toBe(0)
  const broken = () => Promise.reject(new Error('no'))
  expect(await runProcess({ name: 'test', main: broken, source, stop })).toBe(1)
})

test('the server’s warnings about our passwords and about a rebuilt index are not shown', () => {
  const text =
    'Filestore [STATE] Stream state outdated, last block has additional entries, will rebuild'
  expect(isHarmless(text)).toBe(true)
  expect(
    isHarmless('Filestore [KV_x] Recovering stream state from index errored: prior state file'),
  ).toBe(true)
  expect(isHarmless('Plaintext passwords detected, use nkeys or bcrypt')).toBe(true)
  expect(isHarmless('Filestore [STATE] Recovering stream state from index errored: no space')).toBe(
    false,
  )
})

test('a full disk is refused at the start, and the folder is free again', () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  expect(() => openDataFolder(data, { needsBytes: 2 ** 60 })).toThrow(
    /data has too little room \(\d+ MiB left, needs 1099511627776\): make room, or choose another folder/,
  )
  using taken = openDataFolder(data)
  expect(taken).toBeDefined()
})

test('an impossible data folder is refused by an error that says what to do', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  const refusal = (path: string) => () => openDataFolder(path)
  expect(refusal(file)).toThrow(/file is a file: move it away, or choose another/)
  expect(refusal(join(file, 'a', 'b'))).toThrow(`${file} is a file: move it away`)
  symlinkSync(join(folder.path, 'nothing'), join(folder.path, 'link'))
  expect(refusal(join(folder.path, 'link'))).toThrow(
    /link is a link to a missing target: remove it/,
  )
  expect(refusal('/dev/null/data')).toThrow('/dev/null is a file')
})

test('a data folder may be several folders deep', () => {
  using folder = temporaryFolder()
  using taken = openDataFolder(join(folder.path, 'a', 'b', 'c'))
  expect(taken).toBeDefined()
})

test('an instance keeps its id over restarts, and each start has its own number', () => {
  using folder = temporaryFolder()
  const first = openInstance(folder.path, 'pipeline')
  const second = openInstance(folder.path, 'pipeline')
  expect(second.id).toBe(first.id)
  expect([first.worker, second.worker]).toEqual([`${first.id}-1`, `${first.id}-2`])
  expect(openInstance(folder.path, 'api').id).not.toBe(first.id)
})

test('an incomplete instance file gives a new id, never half of one', () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'instances'))
  writeFileSync(join(folder.path, 'instances', 'pipeline'), 'pipeline-abc')
  expect(openInstance(folder.path, 'pipeline').id).toMatch(/^pipeline-[0-9a-f]{12}$/)
})

test('starts at the same instant never get the same worker id', async () => {
  using folder = temporaryFolder()
  const barrier = new Int32Array(new SharedArrayBuffer(4))
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(({ openInstance }) => {
      parentPort.postMessage('here')
      Atomics.wait(workerData.barrier, 0, 0)
      const names = Array.from({ length: 20 }, () => openInstance(workerData.folder, 'pipeline').worker)
      parentPort.postMessage(names)
    })`
  const module = new URL('../../runtime/process/instance-id.ts', import.meta.url).href
  const starts = Array.from(
    { length: 4 },
    () => new Worker(code, { eval: true, workerData: { module, barrier, folder: folder.path } }),
  )
  await Promise.all(starts.map((one) => once(one, 'message')))
  const named = Promise.all(starts.map((one) => once(one, 'message')))
  Atomics.store(barrier, 0, 1)
  Atomics.notify(barrier, 0)
  const names = (await named).flat(2)
  expect(names).toHaveLength(80)
  expect(new Set(names).size).toBe(80)
  await Promise.all(starts.map((one) => one.terminate()))
})

test('a private file is readable only by its owner, even if it was not before', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, 'old', { mode: 0o644 })
  writePrivateFile(file, 'new')
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('secrets never reach the log', () => {
  const lines: string[] = []
  const log = openLog({ name: 'x', level: 'info', to: { write: (line) => void lines.push(line) } })
  log.info({ token: 'hush', account: { password: 'hush', email: 'a@b.example' } }, 'hello')
  expect(lines.join()).not.toContain('hush')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', name: 'x', msg: 'hello' })
})

test('/ready names what is not ready, /health and /metrics respond all the same', async () => {
  const state = { isUp: false }
  const check = () => {
    if (!state.isUp) throw new Error('NATS is away')
  }
  const metrics = openMetrics('x')
  await using admin = await openAdmin({
    host: '127.0.0.1',
    port: 0,
    ready: [
      { name: 'nats', check },
      { name: 'store', check: async () => undefined },
    ],
    metrics,
  })
  const ask = async (path: string) => {
    const response = await fetch(admin.url + path, { headers: { connection: 'close' } })
    return { status: response.status, body: await response.text() }
  }
  expect((await ask('/health')).status).toBe(200)
  expect((await ask('/metrics')).body).toContain('nodejs_eventloop_lag_seconds')
  expect((await ask('/other')).status).toBe(404)
  const before = await ask('/ready')
  expect([before.status, JSON.parse(before.body)]).toEqual([
    503,
    { ready: false, checks: { nats: 'NATS is away', store: 'ok' } },
  ])
  state.isUp = true
  expect((await ask('/ready')).status).toBe(200)
})

test.each([
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['sensor', 'sensors', 1],
  ['kitten', 'sitting', 3],
])('%j becomes %j by %i edits', (a, b, edits) => expect(editsBetween(a, b)).toBe(edits))

test('a mistyped command is recognised, another word is not', () => {
  const names = ['sensors', 'simulate', 'status', 'up']
  expect([nearest('sensor', names), nearest('statsu', names)]).toEqual(['sensors', 'status'])
  expect(nearest('deploy', names)).toBeUndefined()
})

test('an unavailable server is logged in one line, any other error with its stack', () => {
  const lines: string[] = []
  const log = openLog({ name: 'x', level: 'warn', to: { write: (line) => void lines.push(line) } })
  log.warn({ err: new TimeoutError() }, 'leases: trying again')
  log.warn({ err: new TryAgain('the store is away') }, 'rows wait')
  log.warn({ err: new TypeError('odd') }, 'a mistake')
  const [away, known, mistake] = lines.map((line) => JSON.parse(line) as { err: unknown })
  expect(away?.err).toBe('TimeoutError: timeout')
  expect(known?.err).toBe('TryAgain: the store is away')
  expect(mistake?.err).toMatchObject({ type: 'TypeError', stack: expect.stringContaining(' at ') })
})

test('each line of a log has one name', () => {
  const lines: string[] = []
  openLog({
    name: 'nats-server',
    level: 'warn',
    to: { write: (line) => void lines.push(line) },
  }).warn('x')
  expect(lines[0]?.match(/"name"/g)).toHaveLength(1)
})

test('before a process serves, /ready reports what it waits for, and /metrics is empty', async () => {
  await using door = await openDoor({ host: '127.0.0.1', port: 0 })
  const ask = async (path: string) => {
    const response = await fetch(door.url + path, { headers: { connection: 'close' } })
    return { status: response.status, body: await response.text() }
  }
  expect(await ask('/health')).toMatchObject({ status: 200 })
  expect(await ask('/metrics')).toEqual({ status: 200, body: '' })
  door.waitsFor('NATS refuses us')
  expect(await ask('/ready')).toEqual({
    status: 503,
    body: '{"ready":false,"checks":{"start":"NATS refuses us"}}\n',
  })
  {
    await using _ = await openAdmin({
      door,
      host: '',
      port: 0,
      ready: [],
      metrics: openMetrics('x'),
    })
    expect(await ask('/ready')).toMatchObject({ status: 200 })
    expect(await door.whyNotReady()).toBeUndefined()
  }
  expect(await door.whyNotReady()).toBe('stopping')
})
