import { expect, test } from 'vitest'
import { collectFindings } from '../../anchor/audit/findings.ts'
import { pendingRows, type Unanchored } from '../../anchor/audit/pending.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { zeroHash } from '../../core/hex.ts'
import { beforeFirst, nextHeader } from '../../core/proof/batch.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { merkleTree, nodeHash } from '../../core/proof/tree.ts'
import type { ArrivedReading, LogMessage } from '../../core/state/log-message.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { valued } from '../support/readings.ts'

const keccak = await createKeccak()

const readingOf = (n: number, pm25 = 1_000): ArrivedReading =>
  valued({
    sensor: 'NGR-LOS-TST-001' as SensorId,
    area: 'Test',
    timeMs: n * 1_000,
    arrivedMs: n * 1_000,
    seq: seqOf(0, n),
    flags: 0,
    pm25,
    aqi: 50,
  })

const messageOf = (readings: readonly ArrivedReading[]): LogMessage => ({
  partition: 0,
  worker: 'test',
  rawLast: 1,
  rawLastTimeMs: 1,
  nLast: readings.length,
  lateTo: 0,
  listenedMs: 0,
  readings,
  events: [],
  held: [],
  deferred: [],
  refused: [],
  duplicates: [],
})

const noBlobs: BatchBlobs = { top: async () => undefined, tile: async () => undefined }
const anchored = { last: 0, index: 0 }

const unanchored = (over: Partial<Unanchored> = {}): Unanchored => ({
  log: async function* () {},
  headers: async () => [],
  ...over,
})

async function found(
  rows: readonly ArrivedReading[],
  against: Unanchored,
  {
    blobs = noBlobs,
    mostPending = 100,
    dueMs = 0,
    anchorSinceMs,
  }: {
    blobs?: BatchBlobs
    mostPending?: number
    dueMs?: number
    anchorSinceMs?: number
  } = {},
): Promise<string[]> {
  const findings = collectFindings()
  const pending = pendingRows({ findings, keccak, blobs, mostPending })
  for (const row of rows) pending.add(row, leafOf(row, keccak))
  await pending.check(against, { ...anchored, dueMs, anchorSinceMs })
  return findings.list().map(({ kind, words }) => `${kind}: ${words}`)
}

const logOf = (...readings: ArrivedReading[]): Unanchored['log'] =>
  async function* () {
    yield { message: messageOf(readings) }
  }

test('a row that the log holds is in order, and one that it does not hold is not', async () => {
  const rows = [readingOf(1), readingOf(2)]
  expect(await found(rows, unanchored({ log: logOf(...rows) }))).toEqual([])
  expect(await found(rows, unanchored({ log: logOf(readingOf(1), readingOf(2, 7)) }))).toEqual([
    expect.stringMatching(/^row: NGR-LOS-TST-001 .* the log holds no such reading$/),
  ])
})

test('a row that was sealed and trimmed from the log meanwhile is looked up in its batch', async () => {
  const row = readingOf(1)
  const leaves = [leafOf(row, keccak)]
  const header = nextHeader(beforeFirst(1, `0x${'11'.repeat(20)}`, keccak), {
    last: 1,
    sealedMs: 1,
    readings: { root: zeroHash, timeMinMs: 1, timeMaxMs: 1, counts: [1] },
  })
  const roots = [merkleTree(leaves, nodeHash(keccak, 1)).root]
  const blobs: BatchBlobs = {
    top: async () => ({ header: new Uint8Array(), leaves: 1, roots, firsts: leaves }),
    tile: async () => leaves,
  }
  const against = unanchored({ headers: async () => [header] })
  expect(await found([row], against, { blobs })).toEqual([])
  expect(await found([readingOf(1, 7)], against, { blobs })).toHaveLength(1)
  expect(await found([row], against)).toHaveLength(1)
})

test('what has waited too long is one finding, however many rows it is', async () => {
  const rows = [readingOf(1), readingOf(2), readingOf(3)]
  const printed = await found(rows, unanchored({ log: logOf(...rows) }), { dueMs: 2_500 })
  expect(printed).toEqual([expect.stringContaining('waiting: 2 readings, the first accepted at')])
})

test('what waits because the anchor process was started only now is not a fault, nor good', async () => {
  const rows = [readingOf(1), readingOf(2), readingOf(3)]
  const printed = (anchorSinceMs: number) =>
    found(rows, unanchored({ log: logOf(...rows) }), { dueMs: 2_500, anchorSinceMs })
  expect(await printed(2_500)).toEqual([
    expect.stringMatching(
      /^not_yet: 2 readings, .* not anchored yet: .* since 1970-01-01T00:00:02/,
    ),
  ])
  expect(await printed(2_499)).toEqual([expect.stringContaining('waiting: 2 readings')])
})

test('rows beyond the bound are reported, and never called good', async () => {
  const rows = [readingOf(1), readingOf(2), readingOf(3)]
  const printed = await found(rows, unanchored({ log: logOf(...rows) }), { mostPending: 2 })
  expect(printed).toEqual([expect.stringContaining('waiting: 1 rows are not anchored')])
})
