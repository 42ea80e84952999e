/**
 * What it costs to prove a reading over HTTP: `node bench/verify-api.ts [--leaves 1000000]
 * [--seconds 10] [--engine sqlite --engine influx]` prints one JSON document.
 *
 * One batch of version 2 of this number of readings is sealed, marked final, and requested in random
 * places of /v1/readings/{sensor}/verify, in a process of its own, by eight accounts in turns: one may
 * have 32 queries waiting.
 *
 * - `prove`: leaf, path and root of one reading, without HTTP and database; and only the path, of
 *   a tile just read.
 * - `alone`: one request after another.
 * - `open`: 100 requests per second, sent when they are due whether or not the former were
 *   answered; latency from when each was due. A machine that cannot keep up refuses some (503): they are
 *   counted, and have no latency.
 * - `saturated`: 32 in flight all the time; and the CPU time of the server for each, all its
 * threads.
 *
 * The chain's record is written as the anchor process would: this is not about the chain.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { batchContent } from '../anchor/seal/batch-content.ts'
import { writeBlob } from '../anchor/seal/write-blob.ts'
import { type Reading, seqOf } from '../core/air/reading.ts'
import { partitionCount, partitionOf, type SensorId, sensorIdRules } from '../core/air/sensor-id.ts'
import { type Hex, zeroHash } from '../core/hex.ts'
import { formatIso } from '../core/iso-time.ts'
import { nextHeader } from '../core/proof/batch.ts'
import { noContract, noRecord } from '../core/proof/chain-record.ts'
import { encodeHeader } from '../core/proof/header.ts'
import { merkleTree, nodeHash, tiledPath } from '../core/proof/tree.ts'
import { createBatchIndex } from '../operate/proofs/batch-index.ts'
import { createProveReading } from '../operate/proofs/prove-reading.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { openBatchBlobs } from '../runtime/nats/batch-blobs.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import { environment } from '../runtime/process/config.ts'
import {
  type Anchored,
  anchoredKey,
  type Checked,
  checkedKey,
  headerKey,
  type SealedBatch,
  sealedEntry,
  sealedOf,
} from '../schemas/anchoring/batch-record.ts'
import {
  type Deployment2,
  deploymentKeyOf,
  nextPlace,
  startOf,
} from '../schemas/anchoring/deployments.ts'
import { buckets } from '../schemas/subjects.ts'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import type { Store } from '../store/store.ts'
import { influxMissing, testInflux } from '../test/support/influx.ts'
import { testNats } from '../test/support/nats.ts'
import { valued } from '../test/support/readings.ts'
import { keyOf, keyRecord } from './verify-api-key.ts'

const { values: flags } = parseArgs({
  options: {
    leaves: { type: 'string', default: '1000000' },
    rows: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '10' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'influx'] },
  },
})
const leaves = Number(flags.leaves)
/** This number of them are in the database too, and are requested. */
const stored = Math.min(leaves, Number(flags.rows))
const seconds = Number(flags.seconds)
const sensors = 1_000
const nowMs = Math.floor(Date.now() / 1_000) * 1_000
const startMs = nowMs - Math.ceil(leaves / sensors) * 1_000
const contract: Hex = `0x${'ab'.repeat(20)}`
const deployment: Deployment2 = {
  version: 2,
  chainId: 31_337,
  genesisHash: zeroHash,
  contract,
  block: 0,
  former: noContract,
  from: noRecord,
}
/** One account may not have more queries waiting than 32. */
const accounts = 8
const keccak = await createKeccak()

const rules = sensorIdRules()
function sensorOf(n: number): SensorId {
  const id = rules.parse(`NGR-LOS-BEN-${100 + (n % sensors)}`)
  if (id === undefined) throw new Error('the bench makes ids that are none')
  return id
}

const numbered = Array.from({ length: partitionCount }, () => 0)
const readingOf = (n: number): Reading => {
  const sensor = sensorOf(n)
  const partition = partitionOf(sensor)
  const number = (numbered[partition] ?? 0) + 1
  numbered[partition] = number
  return valued({
    sensor,
    area: 'Bench',
    timeMs: startMs + Math.floor(n / sensors) * 1_000,
    pm25: n % 40_000,
    pm10: n % 50_000,
    co2: 41_000 + (n % 500),
    temperature: 2_500,
    humidity: 6_000,
    aqi: n % 500,
    flags: 0,
    leafVersion: 2 as const,
    seq: seqOf(partition, number),
  })
}
const readings = Array.from({ length: leaves }, (_, n) => readingOf(n))
const atRandom = (): Reading => readings[Math.floor(Math.random() * stored)] ?? readings[0]!

const round = (value: number): number => Math.round(value * 1_000) / 1_000
const quantile = (sorted: readonly number[], part: number): number =>
  round(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN)
const times = (ms: number[]) => {
  ms.sort((a, b) => a - b)
  return {
    count: ms.length,
    p50Ms: quantile(ms, 0.5),
    p99Ms: quantile(ms, 0.99),
    maxMs: quantile(ms, 1),
  }
}

/** One batch of all readings, final. @returns what is stored of it */
async function seal(
  nc: NatsConnection,
): Promise<{ sealed: SealedBatch; anchored: Anchored; checked: Checked }> {
  const start = startOf(deployment, keccak)
  const content = batchContent(start, keccak)
  const byPartition = Map.groupBy(readings, ({ sensor }) => partitionOf(sensor))
  let seq = 0
  for (const [partition, group] of byPartition) {
    content.add(++seq, {
      partition,
      worker: 'bench',
      rawLast: 1,
      rawLastTimeMs: nowMs,
      nLast: group.length,
      lateTo: 0,
      listenedMs: 0,
      leafVersion: 2,
      deferred: [],
      refused: [],
      duplicates: [],
      readings: group.map((reading) => ({ ...reading, arrivedMs: nowMs })),
      events: [],
      held: [],
    })
  }
  const built = await content.build()
  if (built.readings === undefined) throw new Error('nothing to seal')
  const header = nextHeader(start, { last: seq, sealedMs: nowMs, readings: built.readings })
  await writeBlob(jetstream(nc), 1, encodeHeader(header, keccak), built)
  const sealed = sealedOf(header, keccak, contract)
  const block = { number: 1, hash: zeroHash }
  const anchored: Anchored = {
    index: 1,
    status: 'final',
    tx: zeroHash,
    block: 1,
    blockHash: zeroHash,
    blockTimeS: nowMs / 1_000,
    finalized: block,
    checkedMs: nowMs,
  }
  // an hour ahead: the chain is not checked while this runs
  const checked = { index: 1, head: sealed.head, ...block, checkedMs: nowMs + 3_600_000 }
  const kvm = new Kvm(nc)
  const kv = await kvm.open(buckets.batches)
  await kv.put(headerKey(1), JSON.stringify(sealedEntry(sealed)))
  await kv.put(anchoredKey(1), JSON.stringify(anchored))
  await kv.put(checkedKey, JSON.stringify(checked))
  const place = deploymentKeyOf(nextPlace([]))
  await (await kvm.open(buckets.anchoring)).put(place, JSON.stringify(deployment))
  const registry = await kvm.open(buckets.sensors)
  for (let n = 0; n < sensors; n++) {
    const id = sensorOf(n)
    const site = { area: 'Bench', lat: 6.5, lon: 3.4, address: '', from: '2020-01-01T00:00:00Z' }
    const entry = { id, cadence_seconds: 60, sites: [site], created_at: '2020-01-01T00:00:00Z' }
    await registry.put(id, JSON.stringify(entry))
  }
  const keys = await kvm.open(buckets.keys)
  for (let n = 0; n < accounts; n++) {
    const { hash, record } = keyRecord(n)
    await keys.put(hash, JSON.stringify(record))
  }
  return { sealed, anchored, checked }
}

async function benchProve(nc: NatsConnection, batch: Awaited<ReturnType<typeof seal>>) {
  const index = createBatchIndex(keccak)
  index.putDeployments([deployment])
  index.putSealed(1, batch.sealed)
  index.putAnchored(1, batch.anchored)
  index.putChecked(batch.checked)
  const blobs = await openBatchBlobs(nc)
  const prove = createProveReading({ index, blobs, keccak, nowMs: Date.now })
  await prove(atRandom())
  const whole: number[] = []
  for (let n = 0; n < 2_000; n++) {
    const reading = atRandom()
    const before = performance.now()
    const { status } = await prove(reading)
    whole.push(performance.now() - before)
    if (status !== 'verified') throw new Error(`a reading is ${status}`)
  }
  const top = await blobs.top(1)
  const tile = await blobs.tile(1, 0)
  if (top === undefined || tile === undefined) throw new Error('there is no blob')
  const hash = nodeHash(keccak, 2)
  const roots: number[] = []
  for (let n = 0; n < 20; n++) {
    const before = performance.now()
    tiledPath({ tile, top: merkleTree(top.roots, hash), index: n }, hash)
    roots.push(performance.now() - before)
  }
  return { 'whole, tile from NATS': times(whole), 'path, nothing kept': times(roots) }
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

const keys = Array.from({ length: accounts }, (_, n) => keyOf(n))
let asked = 0

/** @returns whether it was answered; false: refused, because too many wait */
async function ask(url: string): Promise<boolean> {
  const key = keys[asked++ % accounts]
  const { sensor, timeMs } = atRandom()
  const path = `/v1/readings/${sensor}/verify?timestamp=${formatIso(timeMs)}`
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  get(url + path, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
    let text = ''
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    response.on('end', () => {
      if (text.startsWith('{"status":"verified"')) resolve(true)
      else if (response.statusCode === 503) resolve(false)
      else reject(new Error(`${path} gave ${response.statusCode}: ${text.slice(0, 200)}`))
    })
  }).on('error', reject)
  return promise
}

async function alone(url: string) {
  const ms: number[] = []
  for (let n = 0; n < 2_000; n++) {
    const before = performance.now()
    if (!(await ask(url))) throw new Error('one request alone was refused')
    ms.push(performance.now() - before)
  }
  return times(ms)
}

async function openLoop(url: string, perSecond: number) {
  const ms: number[] = []
  const asking: Promise<void>[] = []
  const started = performance.now()
  for (let n = 0; n < perSecond * seconds; n++) {
    const dueMs = started + (n * 1_000) / perSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const answered = ask(url).then((isAnswered) => {
      if (isAnswered) ms.push(performance.now() - dueMs)
    })
    asking.push(answered)
  }
  await Promise.all(asking)
  return { ...times(ms), refused: asking.length - ms.length }
}

async function saturated(url: string) {
  let count = 0
  const started = performance.now()
  const lane = async (): Promise<void> => {
    while (performance.now() - started < seconds * 1_000) {
      if (await ask(url)) count++
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  return { perSecond: Math.round((count / (performance.now() - started)) * 1_000), count }
}

async function benchApi(env: Readonly<Record<string, string>>, store: Store) {
  for (let at = 0; at < stored; at += 5_000)
    await store.writeBatch(readings.slice(at, Math.min(stored, at + 5_000)))
  const child = fork(fileURLToPath(new URL('./verify-api-child.ts', import.meta.url)), [], {
    env: { ...environment(), ...env, AIRPROOF_LOG: 'error', AIRPROOF_ADMIN_PORT: '0' },
    // what is printed is the document
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const nextMessage = async (): Promise<{ url?: string; cpuUs?: number }> => {
    const [message] = await once(child, 'message')
    return message
  }
  try {
    const { url = '' } = await nextMessage()
    await alone(url)
    const cpuUs = async (): Promise<number> => {
      const answer = nextMessage()
      child.send('cpu')
      return (await answer).cpuUs ?? Number.NaN
    }
    const one = await alone(url)
    const open = await openLoop(url, 100)
    const before = await cpuUs()
    const most = await saturated(url)
    const cpuUsPerRequest = Math.round(((await cpuUs()) - before) / most.count)
    return { alone: one, open, saturated: { ...most, cpuUsPerRequest } }
  } finally {
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  }
}

const folder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
try {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  const batch = await seal(nc)
  const prove = await benchProve(nc, batch)
  const env = { NATS_URL: nats.url, AIRPROOF_DATA: folder }
  const result: Record<string, unknown> = {}
  if (flags.engine.includes('sqlite')) {
    await using store = await openSqliteStore({ file: join(folder, 'readings.sqlite') })
    result['sqlite'] = await benchApi(env, store)
  }
  if (flags.engine.includes('influx')) {
    const missing = await influxMissing()
    if (missing === undefined) {
      await using influx = await testInflux()
      const { url, org, bucket, token, open } = await influx.newBucket()
      await using store = await open()
      const place = { INFLUX_URL: url, INFLUX_ORG: org, INFLUX_BUCKET: bucket, INFLUX_TOKEN: token }
      result['influx'] = await benchApi({ ...env, ...place }, store)
    } else result['influx'] = { missing }
  }
  await nc.close()
  agent.destroy()
  const goal = {
    proveP50Ms: 1,
    aloneP50Ms: 2,
    sqlite: { openP99Ms: 20, saturatedPerSecond: 1_000 },
    influx: { openP99Ms: 60, saturatedPerSecond: 300 },
  }
  console.log(
    JSON.stringify(
      { bench: 'verify-api', node: process.version, leaves, rows: stored, goal, prove, ...result },
      null,
      2,
    ),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
