import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openRawPublisher } from '../../cli/shell/raw-publisher.ts'
import { command, statusLines } from '../../cli/status.ts'
import { partitionCount, partitionOf } from '../../core/air/sensor-id.ts'
import { shardCount } from '../../core/delivery/webhook-id.ts'
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { readLastBatches } from '../../operate/last-batches.ts'
import { readStatus } from '../../operate/status-report.ts'
import { writeRunningInstance } from '../../runtime/machine/running-instance.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { deploymentKey } from '../../schemas/anchoring/batch-record.ts'
import { deploymentKeyOf } from '../../schemas/anchoring/deployments.ts'
import { nothingExpired } from '../../schemas/retention.ts'
import { buckets } from '../../schemas/subjects.ts'
import { tasks } from '../../schemas/system-keys.ts'
import { statRules } from '../../store/stat-fields.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { publishEvent, putWebhook, rise, startNotifier } from '../support/notifier.ts'
import { playPipeline } from '../support/played-pipeline.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let nats: TestNats
let nc: NatsConnection

beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

const sensor = 'NGR-LOS-IKJ-017'
const partition = partitionOf(sensor)

const publish = async (count: number, id = sensor, fromMinute = 0): Promise<void> => {
  await using publisher = openRawPublisher(nc)
  for (let i = 0; i < count; i++) {
    const timestamp = new Date(Date.UTC(2026, 0, 1, 0, fromMinute + i)).toISOString()
    await publisher.publish(id, JSON.stringify({ timestamp, pm25: i }))
  }
  await publisher.drain()
}

it('shows what waits in each stage, and what no longer does', async () => {
  await publish(3)
  const waiting = await readStatus(nc, { lookMs: 1 })
  expect(waiting.partitions[partition]).toEqual({
    partition,
    raw: 3,
    unjudged: 3,
    accepted: 0,
    log_seq: 0,
    log_time: null,
    unstored: 0,
    worker: null,
  })
  {
    await using _pipeline = await playPipeline(nc)
    await eventually('the played pipeline has judged them', async () => {
      const { partitions } = await readStatus(nc, { lookMs: 1 })
      return partitions[partition]?.unjudged === 0
    })
  }
  const kv = await new Kvm(nc).open(buckets.system)
  await kv.put('stored.one', JSON.stringify({ [partition]: 1 }))
  await kv.put('stored.two', JSON.stringify({ [partition]: 2 }))
  const judged = await readStatus(nc, { lookMs: 1 })
  expect(judged.partitions[partition]).toMatchObject({
    raw: 3,
    unjudged: 0,
    accepted: 3,
    log_seq: 3,
    // the highest number that any process has reported
    unstored: 1,
  })
  expect(judged.readings).toMatchObject({ last_seq: 3, messages: 3 })
  expect(judged.partitions.filter(({ raw }) => raw === 0)).toHaveLength(15)
})

it('counts what is not stored in readings of the partition, whatever other partitions do', async () => {
  const other = 'NGR-LOS-IKJ-018'
  expect(partitionOf(other)).not.toBe(partition)
  await using _pipeline = await playPipeline(nc)
  const judged = (p: number, readings: number) =>
    eventually('the played pipeline has judged them', async () => {
      const { partitions } = await readStatus(nc, { lookMs: 1 })
      return partitions[p]?.accepted === readings
    })
  const kv = await new Kvm(nc).open(buckets.system)
  const { partitions: before } = await readStatus(nc, { lookMs: 1 })
  await publish(40, other)
  await judged(partitionOf(other), 40)
  await kv.put('stored.one', JSON.stringify({ [partition]: before[partition]?.log_seq ?? 0 }))
  expect((await readStatus(nc, { lookMs: 1 })).partitions[partition]?.unstored).toBe(0)
  await publish(2, sensor, 100)
  await judged(partition, 5)
  const { partitions } = await readStatus(nc, { lookMs: 1 })
  expect(partitions[partition]).toMatchObject({ unstored: 2 })
  expect(partitions[partition]?.log_seq).toBeGreaterThan(40)
  expect(partitions[partitionOf(other)]).toMatchObject({ unstored: 40 })
})

it('shows how fast readings arrive while it looks', async () => {
  let isLooking = true
  const report = readStatus(nc, { lookMs: 100 }).finally(() => {
    isLooking = false
  })
  while (isLooking) await publish(5)
  expect((await report).rates.raw).toBeGreaterThan(0)
})

it('shows the last final batch, and the number of readings in none', async () => {
  const { anchor, partitions } = await readStatus(nc, { lookMs: 1 })
  const accepted = partitions.reduce((total, one) => total + one.accepted, 0)
  expect(anchor).toEqual({
    last: null,
    not_anchored: accepted,
    chain_id: null,
    batches: { sealed: 0, sent: 0, final: 0 },
    oldest_seconds: null,
    alarms: [],
    alarms_since: null,
    worker: null,
  })
  const kv = await new Kvm(nc).open(buckets.batches)
  const hash = `0x${'1'.repeat(64)}`
  const nLast = Array.from({ length: partitionCount }, (_, p) => (p === partition ? 2 : 0))
  const header = {
    index: 7,
    prevHead: hash,
    root: hash,
    first: 1,
    last: 1,
    count: 2,
    timeMinMs: 0,
    timeMaxMs: 0,
    sealedMs: 0,
    beacon: hash,
    nFirst: nLast,
    nLast,
  }
  await kv.put('header.7', JSON.stringify({ header, headerHash: hash, head: hash }))
  const block = { block: 9, blockHash: hash, blockTimeS: 60, finalized: { number: 9, hash } }
  const anchored = { index: 7, status: 'final', tx: hash, ...block, checkedMs: 0 }
  await kv.put('anchored.7', JSON.stringify(anchored))
  const checked = { index: 7, head: hash, number: 9, hash, checkedMs: 0 }
  await kv.put('checked', JSON.stringify(checked))
  const deployment = {
    chainId: 31_337,
    genesisHash: hash,
    contract: `0x${'1'.repeat(40)}`,
    block: 0,
  }
  const anchoring = await new Kvm(nc).open(buckets.anchoring)
  await anchoring.put(deploymentKey, JSON.stringify(deployment))
  const report = await readStatus(nc, { lookMs: 1 })
  expect(report.anchor).toMatchObject({
    last: { batch: 7, anchored_at: '1970-01-01T00:01:00Z' },
    not_anchored: accepted - 2,
    chain_id: 31_337,
  })
  expect(statusLines(report, [], 301_000)).toContain(
    `anchor     batch 7 final, 4 min old, ${accepted - 2} readings not anchored yet; chain 31337, a local test chain`,
  )
  expect(statusLines(report, [], 0)).toContain(
    'batches    7 sealed, 7 final; no process anchors now',
  )
  // three more are sealed, one of which is sent, and a fourth is decided
  const record = (index: number) => ({ ...anchored, index, status: 'sent' as const, block: null })
  const blockless = { blockHash: null, blockTimeS: null, finalized: null }
  await kv.put('anchored.8', JSON.stringify({ ...record(8), ...blockless }))
  for (const index of [8, 9, 10])
    await kv.put(
      `header.${index}`,
      JSON.stringify({ header: { ...header, index }, headerHash: hash, head: hash }),
    )
  const sealedMs = Date.now() - 200_000
  await kv.put('batch.8', JSON.stringify({ first: 2, last: 1, sealedMs, beacon: hash }))
  await kv.put('open', JSON.stringify({ index: 11, beacon: hash }))
  const words = 'the account 0x11 has too little coin: send it some'
  const alarms = [{ reason: 'NO_FUNDS', words }]
  await kv.put('alarms', JSON.stringify({ alarms, since: '2026-01-01T00:00:00Z' }))
  const leases = await new Kvm(nc).open(buckets.leases)
  await leases.put(tasks.anchor, 'anchor-1')
  const waiting = await readStatus(nc, { lookMs: 1 })
  await leases.delete(tasks.anchor)
  expect(waiting.anchor).toMatchObject({
    batches: { sealed: 10, sent: 1, final: 7 },
    alarms,
    worker: 'anchor-1',
  })
  const lines = statusLines(waiting, [], 0)
  expect(lines).toContain(
    'batches    10 sealed, 7 final, 1 sent; the oldest not final is 3 min old',
  )
  expect(lines).toContain(`ALARM      NO_FUNDS since 2026-01-01T00:00:00Z: ${words}`)
  await kv.delete('alarms')
  // the newest contract is the one in use, also of an instance that never had one of version 1
  expect((await readLastBatches(nc, 1)).deployment).toEqual(deployment)
  await anchoring.delete(deploymentKey)
  for (const place of [2, 10, 3]) {
    const contract = `0x${String(place).padStart(40, '0')}`
    const later = { version: 2, ...deployment, contract, former: noContract, from: noRecord }
    await anchoring.put(deploymentKeyOf(place), JSON.stringify(later))
  }
  const contract = `0x${'10'.padStart(40, '0')}`
  expect((await readLastBatches(nc, 1)).deployment).toEqual({ ...deployment, contract })
  expect((await readStatus(nc, { lookMs: 1 })).anchor.chain_id).toBe(31_337)
})

it('shows that no notifier answers, or what waits', async () => {
  const report = await readStatus(nc, { lookMs: 1 })
  expect(report.webhooks).toMatchObject({ shards: shardCount, silent: shardCount })
  expect(statusLines(report, [], 0)).toContain('webhooks   unknown: no notifier answers')
  using folder = temporaryFolder()
  await using _ = await startNotifier(nats.url, folder.path)
  await putWebhook(nc, { paused: true })
  await publishEvent(nc, rise(100, 180))
  const shown = await eventually('one waits', async () => {
    const status = await readStatus(nc, { lookMs: 1 })
    return status.webhooks.pending === 1 && status
  })
  expect(shown.webhooks).toMatchObject({ silent: 0, dead: 0, in_breaker: 0, oldest_due_seconds: 0 })
  expect(statusLines(shown, [], 0)).toContain(
    'webhooks   1 deliveries wait, none due; 0 given up, 0 endpoints in breaker',
  )
})

it('shows how far the archive is complete, what it takes, and what keeps it from going on', async () => {
  const before = await readStatus(nc, { lookMs: 1 })
  expect(before.archive).toBeNull()
  expect(statusLines(before, [], 0).join('\n')).not.toContain('archive')
  const [system, leases] = await Promise.all(
    [buckets.system, buckets.leases].map((name) => new Kvm(nc).open(name)),
  )
  const report = { folder: '/srv/archive', run: 0, batch: 0, complete_until: null, trouble: null }
  const lines = async (more: object) => {
    await system!.put('archive', JSON.stringify({ ...report, ...more }))
    return statusLines(await readStatus(nc, { lookMs: 1 }), [], 0)
  }
  expect(await lines({})).toContain('archive    nothing is archived yet; no process archives now')
  await leases!.put(tasks.archive, 'archive-1')
  const covered = { run: 3, batch: 144, bytes: 18_200_000, readings: 1_440_000 }
  expect(await lines(covered)).toContain('archive    no day is complete yet, batch 144; 18.2 MB')
  const trouble = { trouble: 'ENOSPC: no space left', trouble_since: '2026-11-22T00:10:00Z' }
  const until = { complete_until: '2026-11-22T00:00:00Z' }
  const shown = await lines({ ...covered, ...until, ...trouble })
  expect(shown).toContain('archive    complete up to 2026-11-22T00:00:00Z, batch 144; 18.2 MB')
  expect(shown).toContain('ALARM      archive since 2026-11-22T00:10:00Z: ENOSPC: no space left')
  expect((await readStatus(nc, { lookMs: 1 })).archive).toEqual({
    ...report,
    ...covered,
    ...until,
    ...trouble,
    expired: nothingExpired,
    worker: 'archive-1',
  })
  await leases!.delete(tasks.archive)
  await system!.delete('archive')
})

it('shows how much of the past still gets its hours of sensors', async () => {
  const system = await new Kvm(nc).open(buckets.system)
  const batches = await new Kvm(nc).open(buckets.batches)
  const record = { position: 3, dirty: [], dirtyDays: [], rules: statRules }
  const shown = async (more: object) => {
    await system.put('rollup', JSON.stringify({ ...record, ...more }))
    const report = await readStatus(nc, { lookMs: 1 })
    const lines = statusLines(report, [], 0).filter((line) => line.startsWith('statistics'))
    return [report.statistics, lines]
  }
  const nothing = [{ sensors_from: null, days_left: null }, []]
  expect(await shown({ sensorsFromMs: 0 })).toEqual(nothing)
  expect(await shown({})).toEqual(nothing)
  const sensorsFromMs = Date.UTC(2026, 2, 1)
  const words =
    'statistics of sensors are made for the past, and are there from 2026-03-01T00:00:00Z on'
  expect(await shown({ sensorsFromMs })).toEqual([
    { sensors_from: '2026-03-01T00:00:00Z', days_left: null },
    [words],
  ])
  const hash = `0x${'1'.repeat(64)}`
  const n = Array.from({ length: partitionCount }, () => 0)
  const timeMinMs = Date.UTC(2026, 0, 1, 12)
  const header = {
    index: 1,
    prevHead: hash,
    root: hash,
    first: 1,
    last: 1,
    count: 1,
    timeMinMs,
    timeMaxMs: timeMinMs,
    sealedMs: 0,
    beacon: hash,
    nFirst: n,
    nLast: n,
  }
  await batches.put('header.1', JSON.stringify({ header, headerHash: hash, head: hash }))
  expect(await shown({ sensorsFromMs })).toEqual([
    { sensors_from: '2026-03-01T00:00:00Z', days_left: 59 },
    [`${words}, about 59 days are left`],
  ])
  await batches.delete('header.1')
  await system.delete('rollup')
})

it('fits one screen, and names partitions without a worker', async () => {
  const lines = statusLines(await readStatus(nc, { lookMs: 1 }), ['processes  up 7'], 0)
  expect(lines.length).toBeLessThanOrEqual(30)
  expect(lines[0]).toBe('processes  up 7')
  expect(lines.join('\n')).toContain('16 of 16 partitions have no worker')
  for (const line of lines) expect(line.length).toBeLessThan(110)
})

it('ends with 1 when the supervisor is gone, and says so', async () => {
  using folder = temporaryFolder()
  const instance = {
    api: 'http://127.0.0.1:9',
    nats: nats.url,
    key: '',
    account: { email: '', password: '' },
  }
  const env = { AIRPROOF_DATA: folder.path, NATS_URL: nats.url }
  const statusWith = async (up: number) => {
    writeRunningInstance(folder.path, { ...instance, pids: { up } })
    return await runCommand(command, { env })
  }
  expect((await statusWith(process.pid)).code).toBe(0)
  // greater than any pid of Linux
  const { code, out } = await statusWith(2 ** 30)
  expect([code, out]).toEqual([1, expect.stringContaining('is gone: start it again')])
})
