/** Where `up` puts the admin ports of its processes, and what it says when one is taken. */

import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takenAdminPorts } from '../../cli/shell/chosen-ports.ts'
import { adminPorts } from '../../cli/up/admin-ports.ts'
import { processService } from '../../cli/up/process.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment, readSharedConfig } from '../../runtime/process/config.ts'
import { readSettings } from '../../runtime/settings.ts'
import { standIn } from '../support/stand-ins/spec.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const listening = async (port: number): Promise<Server & AsyncDisposable> => {
  const server = createServer()
  await listenOn(server, { host: '127.0.0.1', port, setting: '' })
  return Object.assign(server, {
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => void server.close(() => closed())),
  })
}

/** The first of seven ports that are free now. */
async function freeBlock(): Promise<number> {
  for (;;) {
    const first = await freePort()
    if ((await takenAdminPorts(first)).length === 0) return first
  }
}

test('they follow one another, and are the same at the next start', async () => {
  using folder = temporaryFolder()
  const first = await freeBlock()
  const notes: string[] = []
  const open = (chosen: number | undefined) =>
    adminPorts({ dataFolder: folder.path, chosen, note: (line) => notes.push(line) })
  const ports = await open(first)
  const names = ['pipeline', 'anchor', 'notifier', 'gate', 'api', 'dashboard', 'archive']
  expect(names.map(ports)).toEqual(names.map((_, place) => first + place))
  expect(ports('simulate')).toBe(0)
  expect((await open(undefined))('archive')).toBe(first + 6)
  expect((await open(0))('pipeline')).toBe(0)
  expect(notes).toEqual([])
})

test('none is chosen unless a setting says so: any free one for a process, those of the last start for `up`', () => {
  const source = { env: {}, flags: {} }
  expect(readSettings(source).port('AIRPROOF_ADMIN_PORT')).toBeUndefined()
  expect(readSharedConfig(source).admin).toEqual({ host: '127.0.0.1', port: 0 })
})

test('while one is taken all move, to the same ones at each start, and the line says which port it is', async () => {
  using folder = temporaryFolder()
  const first = await freeBlock()
  const notes: string[] = []
  const open = (chosen?: number) =>
    adminPorts({ dataFolder: folder.path, chosen, note: (line) => notes.push(line) })
  await open(first)
  let moved = 0
  {
    await using _other = await listening(first + 3)
    moved = (await open())('pipeline')
    expect(moved).not.toBe(first)
    expect((await open())('pipeline')).toBe(moved)
  }
  const line = `the admin port of gate: port ${first + 3} is in use by another program: the admin ports are ${moved} to ${moved + 6}. Each start tries ${first} again, so stop that program and start again; or keep these with --admin-port ${moved}, and change what scrapes them`
  expect(notes).toEqual([line, line])
  expect((await open())('pipeline')).toBe(first)
  expect(notes.slice(2)).toEqual([
    `admin port ${first} is free again: the admin ports are no longer those from ${moved} on`,
  ])
  expect((await open())('pipeline')).toBe(first)
  expect(notes).toHaveLength(3)
})

test('chosen ones that are taken are named, each with its process', async () => {
  const first = await freeBlock()
  await using _gate = await listening(first + 3)
  await using _api = await listening(first + 4)
  const way = 'stop what uses it, or choose another with AIRPROOF_ADMIN_PORT (--admin-port)'
  expect(await takenAdminPorts(first)).toEqual([
    `the admin port of gate: port ${first + 3} is in use: ${way}`,
    `the admin port of api: port ${first + 4} is in use: ${way}`,
  ])
  expect(await takenAdminPorts(0)).toEqual([])
})

test('a process whose port another program took starts all the same, and says where its metrics are', async () => {
  using folder = temporaryFolder()
  await using other = await listening(0)
  const address = other.address()
  const adminPort = typeof address === 'object' && address !== null ? address.port : 0
  const lines: string[] = []
  const to = { write: (line: string) => void lines.push(line) }
  const service = processService({
    ...standIn('first', join(folder.path, 'journal')),
    hasAdmin: true,
    adminPort,
    env: environment(),
    log: openLog({ name: 'up', level: 'error', to }),
    output: to,
  })
  const child = await service.start()
  await child.stop()
  const port = new URL(service.admin() ?? '').port
  expect(Number(port)).not.toBe(adminPort)
  expect(lines.join('')).toContain(
    `port ${adminPort} is in use: until its next start first has its metrics on port ${port}`,
  )
})
