/**
 * READINGS messages → root: what the sealer does with a batch, compared with the obvious program of
 * viem and merkletreejs, on the same readings in the same run. Then leaves and root alone: version 1,
 * version 2 one by one, as the API and the audit make a leaf, and version 2 as the sealer does, in turns.
 * First of all what a batch of `--batch` readings adds to the memory of the process.
 * Usage: node bench/seal.ts [--readings 200000] [--batch 1000000]
 */
import { parseArgs } from 'node:util'
import { MerkleTree } from 'merkletreejs'
import { encodeAbiParameters, keccak256, toBytes } from 'viem'
import { batchContent } from '../anchor/seal/batch-content.ts'
import { leafList, tilesOf } from '../anchor/seal/leaf-list.ts'
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
import { leavesAtOnce, leavesEncoder } from '../core/proof/leaves.ts'
import { sortLeaves } from '../core/proof/sort-leaves.ts'
import { tileRootOf2 } from '../core/proof/tile-root.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../core/proof/tree.ts'
import type { ArrivedReading, LogMessage } from '../core/state/log-message.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { keccakSlots } from '../runtime/hashes/keccak-slots.ts'
import { cutLeaves, encodeBlobTop } from '../schemas/anchoring/batch-blob.ts'
import { decodeReadings, encodeReadings } from '../schemas/log/readings-message.ts'
import { valued } from '../test/support/readings.ts'

const { values } = parseArgs({
  options: {
    readings: { type: 'string', default: '200000' },
    batch: { type: 'string', default: '1000000' },
  },
})
const total = Number(values.readings)
const perMessage = 2_000
const naiveShare = 20
const keccak = await createKeccak()

const memory = await memoryOf(Number(values.batch))
const messages = Array.from({ length: Math.ceil(total / perMessage) }, (_, at) => messageOf(at, 1))
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
const readings2 = readings1.map(ofVersion2)
const rounds = 7
const ways = {
  version1: () => rootOf(readings1, 1),
  version2OneByOne: () => rootOf(readings2, 2),
  version2: () => rootTogether(readings2),
} as const
const leafAndRoot = Object.entries(ways).map(([name, work]) => ({
  name,
  work,
  perSecond: new Array<number>(),
  root: '',
}))
// in turns, so that other work of the machine affects all; the first round warms up
for (let round = 0; round <= rounds; round++) {
  for (const way of leafAndRoot) {
    const { perSecond, result } = await measured(count, async () => way.work())
    way.root = toHex(result)
    if (round > 0) way.perSecond.push(perSecond)
  }
}
const [, oneByOne, together] = leafAndRoot
if (oneByOne?.root !== together?.root) throw new Error('the two ways to a root do not agree')
const perSecondOf = (name: keyof typeof ways): number =>
  median(leafAndRoot.find((way) => way.name === name)?.perSecond ?? [])

const { tiles, roots, readings } = fromMessages.result
const tileBytes = [...tiles()].map(({ length }) => length)
const top = encodeBlobTop({
  header: new Uint8Array(47 * 32),
  leaves: count,
  roots,
  firsts: roots,
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
      leafAndRootPerCpuSecond: Object.fromEntries(
        leafAndRoot.map(({ name, perSecond }) => [
          name,
          { median: Math.round(median(perSecond)), best: most(perSecond) },
        ]),
      ),
      ratios: {
        togetherToOneByOne: round(perSecondOf('version2') / perSecondOf('version2OneByOne')),
        version2ToVersion1: round(perSecondOf('version2') / perSecondOf('version1')),
      },
      blobBytesPerLeaf: round(blobBytes / count),
      memory,
    },
    undefined,
    2,
  ),
)

function messageOf(at: number, version: 1 | 2): LogMessage {
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
    readings: version === 1 ? readings : readings.map(ofVersion2),
    ...(version === 2 && { leafVersion: version }),
    events: [],
    held: [],
    deferred: [],
    refused: [],
    duplicates: [],
  }
}

/** Sealed as messages come, and its blob taken tile by tile, as it is written. */
async function memoryOf(batchReadings: number) {
  const seal = async (many: number): Promise<number> => {
    const content = batchContent({ version: 2, last: 0, nLast: [] }, keccak)
    let peak = 0
    for (let at = 0; at < many / perMessage; at++) {
      const body = encodeReadings(messageOf(at, 2), 3)
      content.add(at + 1, decodeReadings(messageOf(at, 2), body))
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    for (const _tile of (await content.build()).tiles())
      peak = Math.max(peak, process.memoryUsage.rss())
    return peak
  }
  // the heap has its size after that
  const before = await seal(batchReadings / 10)
  const peak = await seal(batchReadings)
  const megabytes = (bytes: number): number => Math.round(bytes / 1_000_000)
  return {
    readings: batchReadings,
    rssMbOfATenth: megabytes(before),
    rssMb: megabytes(peak),
    addedMb: megabytes(peak - before),
  }
}

function ofVersion2(reading: ArrivedReading): ArrivedReading & LeafFields2 {
  return { ...reading, leafVersion: 2 }
}

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

/** One by one: leaves side by side in one buffer, and tile by tile. */
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

/** As the sealer does it. */
function rootTogether(some: readonly LeafFields2[]): Uint8Array {
  const leavesOf = leavesEncoder(keccak, keccakSlots)
  const rootOfTile = tileRootOf2(keccakSlots)
  const list = leafList()
  for (let at = 0; at < some.length; at += leavesAtOnce)
    list.add(leavesOf(some.slice(at, at + leavesAtOnce)))
  return merkleRoot(Array.from(tilesOf([list]), rootOfTile), nodeHash(keccak, 2))
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
