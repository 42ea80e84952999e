import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lookAround, roomLines } from '../../cli/shell/status-local.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { openLog } from '../../runtime/log.ts'
import { enterProcess, listProcesses } from '../../runtime/machine/process-list.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Above the largest id that Linux gives. */
const gone = 4_194_999
const log = openLog({ name: 'test', level: 'silent' })

test('a process that is gone is marked, and so is the supervisor', async () => {
  using folder = temporaryFolder()
  const lines = await lookAround(folder.path, { pids: { up: gone, api: process.pid } })
  expect(lines).toEqual([
    `processes  up ${gone} (gone), api ${process.pid}`,
    `the supervisor (process ${gone}) is gone: start it again, it continues with the same data`,
  ])
})

test('a process that is not ready is named with its reason, one that is well is not', async () => {
  using folder = temporaryFolder()
  const server = createServer((request, response) => {
    const isReady = request.url?.startsWith('/well')
    response.writeHead(isReady === true ? 200 : 503)
    response.end(JSON.stringify({ checks: { store: 'no bucket', nats: 'ok' } }))
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: '' })
  using _api = enterProcess(
    folder.path,
    { name: 'api', pid: process.pid, admin: `${url}/ill` },
    log,
  )
  using _gate = enterProcess(
    folder.path,
    { name: 'gate', pid: process.pid, admin: `${url}/well` },
    log,
  )
  const lines = await lookAround(folder.path, undefined)
  expect(lines).toEqual([
    `processes  api ${process.pid}, gate ${process.pid}`,
    `not ready  api ${process.pid}: store: no bucket`,
  ])
  server.close()
})

test('a process is listed while it runs, and removes a killed one of its name', () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'processes'))
  const killed = (name: string): void => {
    const entry = { name, pid: gone, admin: 'http://127.0.0.1:1' }
    writeFileSync(join(folder.path, 'processes', `${name}-${gone}.json`), JSON.stringify(entry))
  }
  killed('api')
  killed('gate')
  const names = () => listProcesses(folder.path).map(({ name, pid }) => `${name} ${pid}`)
  {
    using _api = enterProcess(folder.path, { name: 'api', pid: process.pid, admin: '' }, log)
    expect(names()).toEqual([`api ${process.pid}`, `gate ${gone}`])
  }
  expect(names()).toEqual([`gate ${gone}`])
})

test('a folder that cannot be written does not stop a process', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'a file')
  writeFileSync(file, '')
  const enterAndLeave = (): void =>
    enterProcess(file, { name: 'api', pid: 1, admin: '' }, log)[Symbol.dispose]()
  expect(enterAndLeave).not.toThrow()
})

test('a full disk is named with what it needs; a folder that is not here is not', () => {
  const mebibyte = 2 ** 20
  expect(roomLines('/data', () => 3 * mebibyte)).toEqual([
    'disk       /data has 3 MiB left and needs 256: make room, and it continues by itself',
  ])
  expect(roomLines('/data', () => 256 * mebibyte)).toEqual([])
  expect(roomLines('/no/such/folder')).toEqual([])
})
