/**
 * READINGS messages → root: what the sealer does with a batch, compared with the obvious program of
 * viem and merkletreejs, on the same readings in the same run. Also only leaves and root: version 1,
 * which sorts them, beside version 2, which hashes the values of a reading once more.
 * Usage: node bench/seal.ts [--readings 200000]
 */
import { parseArgs } from 'node:util'
import { MerkleTree } from 'merkletreejs'
import { encodeAbiParameters, keccak256, toBytes } from 'viem'
import { batchContent } from '../anchor/seal/batch-content.ts'
import { seqOf } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { toHex } from '../core/hex.ts'
import {
  type LeafFields,
  type LeafFields2,
  leafEncoder,
  leafTypeOf,
  leafVersions,
  presentBits,
} from '../core/proof/leaf.ts'
import { sortLeaves } from '../core/proof/sort-leaves.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../core/proof/tree.ts'
import type { ArrivedReading, LogMessage } from '../core/state/log-message.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { cutLeaves, encodeBlobTop, encodeTile } from '../schemas/anchoring/batch-blob.ts'
import { decodeReadings, encodeReadings } from '../schemas/log/readings-message.ts'
import { valued } from '../test/support/readings.ts'

const { values } = parseArgs({ options: { readings: { type: 'string', default: '200000' } } })
const total = Number(values.readings)
const perMessage = 2_000
const naiveShare = 20
const keccak = await createKeccak()

const messages = Array.from({ length: Math.ceil(total / perMessage) }, (_, at): LogMessage => {
  const readings = Array.from({ length: perMessage }, (_reading, i) =>
    readingOf(at * perMessage + i + 1),
  )
  return {
    partition: 0,
    worker: 'bench',
    rawLast: 0,
    rawLastTimeMs: 0,
    nLast: (at + 1) * perMessage,
    lateTo: 0,
    listenedMs: 0,
    readings,
    events: [],
    held: [],
    deferred: [],
    refused: [],
    duplicates: [],
  }
})
const bodies = messages.map((message) => ({ message, body: encodeReadings(message, 2) }))
const count = messages.length * perMessage

const fromMessages = await measured(count, async () => {
  const content = batchContent({ last: 0, nLast: [] }, keccak)
  bodies.forEach(({ message, body }, at) => content.add(at + 1, decodeReadings(message, body)))
  return content.build()
})
const fromReadings = await measured(count, async () => {
  const content = batchContent({ last: 0, nLast: [] }, keccak)
  messages.forEach((message, at) => content.add(at + 1, message))
  return content.build()
})
const few = messages.flatMap(({ readings }) => readings).slice(0, Math.ceil(count / naiveShare))
const naive = await measured(few.length, async () => naiveRoot(few))
const checked = batchContent({ last: 0, nLast: [] }, keccak)
const whole = Math.floor(few.length / perMessage)
messages.slice(0, whole).forEach((message, at) => checked.add(at + 1, message))
const same = (await checked.build()).readings?.root === naiveRoot(few.slice(0, whole * perMessage))

const readings1 = messages.flatMap((message) => message.readings)
const readings2 = readings1.map((reading): LeafFields2 => ({ ...reading, leafVersion: 2 }))
const rounds = 7
const leafAndRoot: { 1: number[]; 2: number[] } = { 1: [], 2: [] }
// in turns, so that other work of the machine affects both; the first round warms up
for (let round = 0; round <= rounds; round++) {
  for (const version of [1, 2] as const) {
    const some: readonly LeafFields[] = version === 1 ? readings1 : readings2
    const { perSecond } = await measured(count, async () => rootOf(some, version))
    if (round > 0) leafAndRoot[version].push(perSecond)
  }
}
const versions = { 1: median(leafAndRoot[1]), 2: median(leafAndRoot[2]) }

const { leaves, roots, readings } = fromMessages.result
const tileBytes = Array.from(
  { length: roots.length },
  (_, at) => encodeTile(leaves.slice(at * 256, at * 256 + 256)).length,
)
const top = encodeBlobTop({
  header: new Uint8Array(47 * 32),
  leaves: leaves.length,
  roots,
  firsts: roots.map((_, at) => leaves[at * 256] ?? new Uint8Array(32)),
})
const blobBytes = tileBytes.reduce((sum, bytes) => sum + bytes, top.length)

console.log(
  JSON.stringify(
    {
      bench: 'seal',
      readings: count,
      root: readings?.root,
      readingsPerCpuSecond: {
        fromMessages: Math.round(fromMessages.perSecond),
        fromReadings: Math.round(fromReadings.perSecond),
        naive: Math.round(naive.perSecond),
      },
      ratioToNaive: {
        fromMessages: round(fromMessages.perSecond / naive.perSecond),
        fromReadings: round(fromReadings.perSecond / naive.perSecond),
      },
      sameRootAsNaive: same,
      leafAndRootPerCpuSecond: {
        version1: Math.round(versions[1]),
        version2: Math.round(versions[2]),
        ratio: round(versions[2] / versions[1]),
        best: { version1: most(leafAndRoot[1]), version2: most(leafAndRoot[2]) },
      },
      blobBytesPerLeaf: round(blobBytes / leaves.length),
    },
    undefined,
    2,
  ),
)

function readingOf(n: number): ArrivedReading {
  const sensor = `NGR-LOS-BEN-${String(n % 10_000).padStart(5, '0')}`
  return valued({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made here, of the right form
    sensor: sensor as SensorId,
    area: 'Bench',
    timeMs: 1_795_000_000_000 + n,
    arrivedMs: 1_795_000_001_000 + n,
    pm25: n % 50_000,
    pm10: n % 60_000,
    temperature: 2_900 - (n % 5_000),
    humidity: n % 10_000,
    aqi: n % 500,
    flags: 0,
    seq: seqOf(0, n),
  })
}

async function measured<T>(readingCount: number, work: () => Promise<T>) {
  // our own processor time, not the wall's: the machine is shared, and the work is one thread's
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { result, perSecond: (readingCount / (user + system)) * 1_000_000 }
}

/** As the sealer does it: leaves side by side in one buffer, and tile by tile. */
function rootOf(some: readonly LeafFields[], version: 1 | 2): Uint8Array {
  const leafOf = leafEncoder(keccak)
  const hash = nodeHash(keccak, version)
  const bytes = Buffer.alloc(some.length * 32)
  some.forEach((reading, at) => bytes.set(leafOf(reading), at * 32))
  const made = cutLeaves(bytes)
  const ordered = version === 1 ? sortLeaves(made) : made
  const tiles = Array.from({ length: Math.ceil(some.length / tileLeaves) }, (_, tile) =>
    merkleRoot(ordered.slice(tile * tileLeaves, (tile + 1) * tileLeaves), hash),
  )
  return merkleRoot(tiles, hash)
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
}

function most(numbers: readonly number[]): number {
  return Math.round(Math.max(...numbers))
}

/** As the two libraries' documentation shows it. */
function naiveRoot(some: readonly ArrivedReading[]): string {
  const type = keccak256(toBytes(leafTypeOf(leafVersions[0])))
  const word = { type: 'int256' } as const
  const leafBuffers = some.map((reading) => {
    const encoded = encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'bytes32' }, ...Array.from({ length: 10 }, () => word)],
      [
        type,
        keccak256(toBytes(reading.sensor)),
        BigInt(reading.timeMs),
        BigInt(reading.seq),
        BigInt(presentBits(reading)),
        ...reading.values.map((value) => BigInt(value ?? 0)),
        BigInt(reading.aqi ?? 0),
        0n,
      ],
    )
    return Buffer.from(keccak256(keccak256(encoded)).slice(2), 'hex')
  })
  const hash = (data: Buffer): Buffer => Buffer.from(keccak256(data).slice(2), 'hex')
  const tree = new MerkleTree(
    leafBuffers.toSorted((a, b) => Buffer.compare(a, b)),
    hash,
    { sortPairs: true },
  )
  return toHex(tree.getRoot())
}

function round(ratio: number): number {
  return Math.round(ratio * 100) / 100
}
