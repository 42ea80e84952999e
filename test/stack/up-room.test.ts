import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { keptPort } from '../../cli/up/kept-port.ts'
import { watchRoom } from '../../cli/up/room.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { keepAlive, type Supervised } from '../../runtime/machine/keep-alive.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const file = fileURLToPath(new URL('../support/stand-ins/nats-server.mjs', import.meta.url))

test('a server that found no space is restarted when there is room again, and not before', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const logged: string[] = []
  const to = { write: (line: string) => void logged.push(String(JSON.parse(line).msg)) }
  const log = openLog({ name: 'up', level: 'warn', to })
  let roomBytes = 3 * 2 ** 20
  let looks = 0
  let kept: Supervised | undefined
  const watch = resources.use(
    watchRoom({
      folder: '/data',
      log,
      restart: async () => await kept?.restart(),
      room: () => {
        looks++
        return roomBytes
      },
      everyMs: 5,
    }),
  )
  const port = await freePort()
  const start = () =>
    startNatsServer({
      engine: { kind: 'program', file },
      folder: join(folder.path, 'nats'),
      port,
      env: environment(),
      onNoRoom: watch.noRoom,
      log,
    })
  // One end would be one too many: our own restart counts against no bound.
  const bound = { ends: 1, withinMs: 60_000 }
  kept = resources.use(await keepAlive({ name: 'nats-server', start }, { log, bound }))
  const before = kept.pid()
  await eventually('it was looked at several times', () => looks > 5)
  expect(kept.pid()).toBe(before)
  roomBytes = 256 * 2 ** 20
  await eventually('another server runs', () => kept?.pid() !== before)
  // The new server finds no space either; it is not restarted again at once.
  const after = kept.pid()
  await eventually('the new failure was logged', () => logged.length === 3)
  looks = 0
  await eventually('it was looked at several times more', () => looks > 5)
  expect(kept.pid()).toBe(after)
  expect(logged).toEqual([
    'nats-server found no space and stores nothing any more: /data has 3 MiB left and needs 256: make room, and it continues by itself',
    '/data has room again (256 MiB left): restarting nats-server, so that it stores again',
    'nats-server found no space and stores nothing any more: /data has 256 MiB left and needs 256: make room, and it continues by itself',
  ])
})

test('the NATS port of a data folder stays; one that another program has is tried again at each start', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const notes: string[] = []
  const note = (line: string) => void notes.push(line)
  const port = (chosen?: number) =>
    keptPort({ dataFolder: folder.path, name: 'NATS', setting: 'AIRPROOF_NATS_PORT', chosen, note })
  const first = await port()
  expect(await port()).toBe(first)
  const chosen = await freePort()
  expect([await port(chosen), await port()]).toEqual([chosen, chosen])
  expect(notes).toEqual([])
  const other = createServer()
  resources.defer(() => void other.close())
  await listenOn(other, { host: '127.0.0.1', port: chosen, setting: '' })
  await expect(port(chosen)).rejects.toThrow(/in use: .*AIRPROOF_NATS_PORT \(--nats-port\)/)
  const next = await port()
  expect(next).not.toBe(chosen)
  const taken = `NATS port ${chosen} is used by another program: NATS is on port ${next}. Each start tries port ${chosen} again, so stop that program and start again; or keep port ${next} with --nats-port ${next}, and change the sensors`
  expect(await port()).toBe(next)
  expect(notes).toEqual([taken, taken])
  await new Promise((resolve) => other.close(resolve))
  expect([await port(), await port()]).toEqual([chosen, chosen])
  expect(notes.slice(2)).toEqual([
    `NATS port ${chosen} is free again: NATS is there, and no longer on port ${next}`,
  ])
})

test('the usual MQTT port that another program had at the first start is used at the next one', async () => {
  using folder = temporaryFolder()
  const first = await freePort()
  const port = (chosen?: number) =>
    keptPort({
      dataFolder: folder.path,
      name: 'MQTT',
      setting: 'AIRPROOF_MQTT_PORT',
      chosen,
      first,
      note: () => undefined,
    })
  const other = createServer()
  await listenOn(other, { host: '127.0.0.1', port: first, setting: '' })
  const next = await port()
  expect(next).not.toBe(first)
  await new Promise((resolve) => other.close(resolve))
  expect(await port()).toBe(first)
  // chosen, it stays, whatever is free
  expect([await port(next), await port()]).toEqual([next, next])
})
