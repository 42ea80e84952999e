/** The nats-server falls silent, then dies; readings go on when it is back. */

import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, inject, test } from 'vitest'
import { readingsStream } from '../../schemas/subjects.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { readEvents } from '../support/chaos/read-events.ts'
import { faultsOf, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const rounds = inject('soak') ? 8 : 1
const frozenMs = 5_000
/** Longer than the silence that makes a sensor offline: only an honest clock tells the two apart. */
const downMs = 11_000
const cadenceSeconds = 3

async function logEnd(nc: NatsConnection): Promise<number> {
  const manager = await jetstreamManager(nc, { timeout: 200, checkAPI: false })
  return (await manager.streams.info(readingsStream)).state.last_seq
}

/** How long until the log grows past where it stood, ms. */
async function untilGrown(nc: NatsConnection, end: number): Promise<number> {
  const beganMs = performance.now()
  await eventually('the log grows', async () => (await logEnd(nc).catch(() => 0)) > end, {
    everyMs: 10,
  })
  return performance.now() - beganMs
}

test('after a frozen and a killed server readings go on, and nobody is called offline', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const ids = cityOf(100)
  await registerCity(nc, ids, { cadenceSeconds })
  const store = checkedSqlite(folder.path)
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder: folder.path }),
  )
  await pipeline.untilReady()
  const sensors = startSensors(nc, { ids, random: seeded(7), everyMs: 300, isLive: true })
  await eventually('all have spoken', () => sensors.acknowledged.length > 4 * ids.length)

  const afterFreezeMs: number[] = []
  const afterKillMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const frozenAt = await logEnd(nc)
    nats.freeze()
    await pause(frozenMs)
    nats.thaw()
    afterFreezeMs.push(Math.round(await untilGrown(nc, frozenAt)))
    const killedAt = await logEnd(nc)
    await nats.kill()
    await pause(downMs)
    await nats.restart()
    afterKillMs.push(Math.round(await untilGrown(nc, killedAt)))
  }
  const spoken = sensors.acknowledged.length
  await eventually('they go on', () => sensors.acknowledged.length > spoken + 4 * ids.length)
  await sensors.stop()

  const account = await untilJudged(nc)
  const logged = await readLog(nc)
  expect(faultsOf(logged)).toEqual([])
  expect(account.accepted.length).toBe(sensors.acknowledged.length)
  const reader = resources.use(await store.open())
  expect(plainRows(await untilStored(reader, account.accepted.length))).toEqual(
    plainRows(account.accepted),
  )
  const copied = await readEvents(nc)
  expect(copied.filter(({ event }) => event.kind === 'offline')).toEqual([])
  expect(copied.filter(({ event }) => event.kind === 'online').length).toBe(ids.length)
  expect(pipeline.isAlive()).toBe(true)
  printFigures('7 server away', { afterFreezeMs, afterKillMs, accepted: account.accepted.length })
})
