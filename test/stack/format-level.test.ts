/** What a process does not start on or write, by the format level and the table of streams, on a real server. */
import { type JetStreamManager, jetstreamManager, StorageType } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { command as sensorsCommand } from '../../cli/sensors/sensors.ts'
import { command as streamsCommand } from '../../cli/streams.ts'
import { watchFormatLevel } from '../../runtime/nats/format-level.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { readNetworkId } from '../../runtime/nats/network-id.ts'
import { tableNumber } from '../../runtime/nats/streams/stream-table.ts'
import { compareStreams, ensureStreams, needStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets, readingsStream, rejectedStream } from '../../schemas/subjects.ts'
import { levelPrefix, systemKeys } from '../../schemas/system-keys.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { eventually } from '../support/eventually.ts'
import { loginAs, type TestNats, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let resources: AsyncDisposableStack
let nats: TestNats
let nc: NatsConnection
let manager: JetStreamManager
let system: KV
let folder: ReturnType<typeof temporaryFolder>

beforeEach(async () => {
  resources = new AsyncDisposableStack()
  folder = resources.use(temporaryFolder())
  nats = resources.use(await testNats())
  nc = await nats.connect()
  resources.defer(() => nc.close())
  manager = await jetstreamManager(nc)
  system = await new Kvm(nc).open(buckets.system)
})
afterEach(() => resources.disposeAsync())

const textOf = async (key: string): Promise<string | undefined> => (await system.get(key))?.string()

/** How much was ever written to each stream. */
async function writtenSoFar(): Promise<Readonly<Record<string, number>>> {
  const streams = await Array.fromAsync(manager.streams.list())
  return Object.fromEntries(streams.map(({ config, state }) => [config.name, state.last_seq]))
}

/** As 0.1 left it: streams with data, and no level. */
async function asOf01(): Promise<void> {
  await ensureStreams(nc)
  await system.delete(systemKeys.format)
  await system.delete(systemKeys.layout)
  await system.delete(systemKeys.network)
  await system.put(systemKeys.partitions, '16')
}

test('a new instance starts with the newest level, and stops 0.1 from starting', async () => {
  await ensureStreams(nc)
  expect(await textOf(systemKeys.format)).toBe('{"level":3,"born":3}')
  expect(await textOf(systemKeys.partitions)).toMatch(/^16 \(formats of level 3/)
  await ensureStreams(nc)
  expect(await textOf(systemKeys.format)).toBe('{"level":3,"born":3}')
  await using level = await watchFormatLevel(nc, {
    name: 'pipeline',
    id: 'a-1',
    onTooNew: () => undefined,
  })
  expect([level.current(), level.isBornAbove]).toEqual([3, true])
})

test('a network has one id from its first process on, and for ever, also what 0.1 made', async () => {
  await Promise.all([needStreams(nc), needStreams(nc), needStreams(nc)])
  const id = await readNetworkId(nc)
  expect(id).toMatch(/^[0-9a-f]{12}$/)
  await ensureStreams(nc)
  expect(await readNetworkId(nc)).toBe(id)
  await asOf01()
  await needStreams(nc)
  const other = await readNetworkId(nc)
  expect(other).toMatch(/^[0-9a-f]{12}$/)
  expect(other).not.toBe(id)
  // its streams are as they should be, but it was made before there were ids
  await system.delete(systemKeys.network)
  await needStreams(nc)
  expect(await readNetworkId(nc)).toMatch(/^[0-9a-f]{12}$/)
  await system.put(systemKeys.network, 'lagos')
  await expect(readNetworkId(nc)).rejects.toThrow(/restore it from a backup/)
})

test('what was new at level 2 and raised to 3 is not new at 3', async () => {
  await ensureStreams(nc, { newest: 2 })
  await system.put(systemKeys.format, '{"level":3}')
  await using level = await watchFormatLevel(nc, {
    name: 'pipeline',
    id: 'a-1',
    onTooNew: () => undefined,
  })
  expect([level.current(), level.isBornAbove]).toEqual([3, false])
})

test('an instance of 0.1 stays at level 1, whatever starts on it', async () => {
  await asOf01()
  await ensureStreams(nc)
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder: folder.path }),
  )
  await pipeline.untilReady()
  expect(await textOf(systemKeys.format)).toBe('')
  expect(await textOf(systemKeys.partitions)).toBe('16')
  const leases = await new Kvm(nc).open(buckets.leases)
  const reports = async () => Array.fromAsync(await leases.keys(`${levelPrefix}>`))
  const [key = ''] = await reports()
  expect(key).toMatch(/^level\.pipeline\.pipeline-[0-9a-f]{12}-1$/)
  expect((await leases.get(key))?.json()).toMatchObject({ level: 3, pid: pipeline.pid })
  await pipeline.stop()
  await eventually('its report is deleted', async () => (await reports()).length === 0)
})

test('a level that is higher than known: nothing starts, and nothing is written', async () => {
  await ensureStreams(nc)
  await system.put(systemKeys.format, '{"level":4}')
  const before = await writtenSoFar()
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder: folder.path }),
  )
  expect(await pipeline.exited).toEqual({ code: 1, signal: null })
  expect(pipeline.printed().join('\n')).toMatch(
    /writes formats of level 4, but airproof .* knows them only up to level 3: use the version that raised the level/,
  )
  const env = { NATS_URL: nats.url, AIRPROOF_DATA: folder.path }
  for (const [command, words] of [
    [sensorsCommand, ['list']],
    [streamsCommand, []],
  ] as const) {
    const { code, err } = await runCommand(command, { env, words })
    expect({ code, err }).toMatchObject({ code: 1 })
    expect(err).toContain('writes formats of level 4')
  }
  await expect(ensureStreams(nc)).rejects.toThrow('writes formats of level 4')
  expect(await writtenSoFar()).toEqual(before)
})

test('a running process exits at once when the level is raised above what it knows', async () => {
  await ensureStreams(nc)
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder: folder.path }),
  )
  await pipeline.untilReady()
  await system.put(systemKeys.format, '{"level":4}')
  expect(await pipeline.exited).toEqual({ code: 1, signal: null })
  expect(pipeline.printed().join('\n')).toContain('writes formats of level 4')
})

test('streams of an older version are updated, and what cannot be changed is named', async () => {
  await asOf01()
  await manager.streams.update(rejectedStream, { subjects: ['air.rejected.old'], metadata: {} })
  await manager.streams.update(readingsStream, { max_bytes: 5_000_000 })
  await manager.streams.update('KV_tokens', { max_bytes: -1, max_age: 0 })
  await manager.streams.delete('AUDIT')
  await manager.streams.add({ name: 'AUDIT', subjects: ['audit.*'], storage: StorageType.Memory })
  await manager.streams.delete('KV_seen')

  const env = { NATS_URL: nats.url, AIRPROOF_DATA: folder.path }
  const { made, differences } = await compareStreams(nc)
  expect(made).toEqual(['KV_seen'])
  const dryRun = await runCommand(streamsCommand, { env, flags: { 'dry-run': true } })
  expect(dryRun.out.split('\n')).toEqual(
    expect.arrayContaining([
      'KV_seen: is missing',
      'REJECTED: subjects ["air.rejected.old"] → ["air.rejected.>"]',
      'KV_tokens: max_bytes -1 → 67108864',
      'AUDIT: storage stays memory, though this version makes it file: the server cannot change it: it needs a new stream',
      'nothing was changed',
    ]),
  )
  expect(dryRun.out.split('\n').length).toBe(differences.length + 2)
  expect((await manager.streams.info(rejectedStream)).config.subjects).toEqual(['air.rejected.old'])

  const { code, out } = await runCommand(streamsCommand, { env })
  expect({ code, out }).toMatchObject({ code: 0 })
  expect(out).toContain('KV_seen: made')
  const configOf = async (name: string) => (await manager.streams.info(name)).config
  expect((await configOf(rejectedStream)).subjects).toEqual(['air.rejected.>'])
  expect((await configOf('KV_tokens')).max_bytes).toBe(67_108_864)
  expect((await configOf('KV_tokens')).max_age).toBe(86_400_000_000_000)
  // the operator's own
  expect((await configOf(readingsStream)).max_bytes).toBe(5_000_000)
  expect((await compareStreams(nc)).differences).toMatchObject([
    { stream: 'AUDIT', field: 'storage' },
  ])
})

test('streams of a later version are used as they are, and never set back', async () => {
  await ensureStreams(nc)
  await system.put(systemKeys.layout, `${tableNumber + 1} of a later version`)
  await manager.streams.update(rejectedStream, { subjects: ['air.rejected.>', 'air.later.>'] })
  const api = await connectNats({ natsUrl: nats.url, natsLogin: loginAs('api') }, { name: 'api' })
  resources.defer(() => api.close())
  await needStreams(api)
  await needStreams(nc)
  await expect(ensureStreams(nc)).rejects.toThrow(/made by a later version of airproof \(table \d+/)
  expect((await manager.streams.info(rejectedStream)).config.subjects).toHaveLength(2)
})
