/** The log after a place on a real server: what memory does not have, what is trimmed, what is foreign. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changesPage } from '../../api/changes/changes-page.ts'
import { type LogAfter, openLogAfter } from '../../api/live/log-after.ts'
import { type LogTail, openLogTail } from '../../api/live/log-tail.ts'
import { nOfSeq, partitionOfSeq, type Reading } from '../../core/air/reading.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { readBatch } from '../../runtime/nats/read-batch.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { beginningOf, type LogCursor } from '../../schemas/log/log-cursor.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'

const network = '0123456789ab'
const anyTime = new AbortController().signal
const all = { limit: 5_000, wants: undefined }
let nats: TestNats
let nc: NatsConnection
let log: ReturnType<typeof logWriter>
let picture: ReturnType<typeof foldedPicture>
let tail: LogTail
let logAfter: LogAfter

/** Folds what the test has it fold, as the live picture does. */
function foldedPicture() {
  let position = 0
  const states = Array.from({ length: 16 }, () => ({ n: 0 }))
  const listeners: ((message: LogMessage | undefined) => void)[] = []
  return {
    position: () => position,
    isLive: () => true,
    states: () => states,
    onFolded: (listener: (message: LogMessage | undefined) => void) =>
      void listeners.push(listener),
    /** Up to a message of the log. */
    foldTo: async (seq: number): Promise<void> => {
      await using entries = await followLog(nc, { fromSeq: position + 1 })
      for await (const entry of entries) {
        position = entry.seq
        const { message } = entry
        if (message !== undefined) {
          const state = states[message.partition]
          if (state !== undefined) state.n = message.nLast
          for (const listener of listeners) listener(message)
        }
        if (position >= seq) return
      }
    },
  }
}

beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
  log = logWriter(nc)
  picture = foldedPicture()
  tail = openLogTail({ picture, network, capacity: 10 })
  logAfter = openLogAfter({ nc, network, tail })
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

const nameOf = ({ seq }: Reading): string => `${partitionOfSeq(seq)}/${nOfSeq(seq)}`
const page = async (cursor: LogCursor, limit = 5_000) => {
  const from = await logAfter.continueFrom(cursor)
  if ('refused' in from) throw new Error(from.refused)
  return await changesPage({ log: logAfter, tail }, from, { ...all, limit }, anyTime)
}
/** Page after page, to the end of what is folded. */
async function copy(cursor: LogCursor, limit?: number): Promise<readonly string[]> {
  const names: string[] = []
  for (let at = cursor; ; ) {
    const { readings, next, isMore, missing } = await page(at, limit)
    expect(missing).toBeUndefined()
    names.push(...readings.map(nameOf))
    at = next
    if (!isMore) return names
  }
}

test('an empty log has a beginning, and nothing after it', async () => {
  expect(await logAfter.ends()).toEqual({ first: 1, last: 0 })
  expect(await logAfter.placeAt(0)).toEqual(beginningOf(network))
  expect(await page(beginningOf(network))).toMatchObject({ readings: [], isMore: false })
})

test('what memory does not have comes from the server, in pages of any size, without a seam', async () => {
  const expected: string[] = []
  const counts = new Map<number, number>()
  let last = 0
  for (let i = 0; i < 60; i++) {
    const partition = [0, 3, 15][i % 3] ?? 0
    const readings = i % 5
    last = await log.write({ partition, readings })
    for (let k = 0; k < readings; k++) {
      const n = (counts.get(partition) ?? 0) + 1
      counts.set(partition, n)
      expected.push(`${partition}/${n}`)
    }
    if (i % 7 === 0) await jetstream(nc).publish(readingsSubject(7), 'foreign')
  }
  await picture.foldTo(last)
  expect(tail.from()).toBeGreaterThan(20)
  for (const limit of [1, 7, 5_000])
    expect(await copy(beginningOf(network), limit)).toEqual(expected)
  // a place anywhere in the log is what a reader from the beginning has there
  for (const seq of [0, 1, 2, 3, 20, tail.from(), last]) {
    const place = await logAfter.placeAt(seq)
    const had = place.n.reduce((sum, n) => sum + n, 0)
    expect(await copy(place)).toEqual(expected.slice(had))
  }
})

test('readings that memory lacks and the log has lost are missed once, by name', async () => {
  const cursor = await logAfter.placeAt(10)
  const first = tail.from() - 5
  await (await jetstreamManager(nc)).streams.purge(readingsStream, { seq: first })
  const oldest = await logAfter.placeAt(first - 1)
  const { missing, readings, next } = await page(cursor)
  expect(missing).toEqual({ firstSeq: 11, lastSeq: first - 1 })
  expect(readings.map(nameOf)).toEqual(await copy(oldest))
  expect(await page(next)).toMatchObject({ readings: [], missing: undefined })
  // it lacks none of them, whatever its position says
  const same = { ...oldest, position: 3 }
  expect((await page(same)).missing).toBeUndefined()
  expect(await copy(same)).toEqual(await copy(oldest))
})

test('what is trimmed while a page is read is missed by name too', async () => {
  const place = await logAfter.placeAt((await logAfter.ends()).first - 1)
  const first = tail.from()
  await (await jetstreamManager(nc)).streams.purge(readingsStream, { seq: first + 1 })
  // the cursor was looked at before
  const { missing, readings } = await changesPage(
    { log: logAfter, tail },
    { cursor: place },
    all,
    anyTime,
  )
  expect(missing?.firstSeq).toBe(place.position + 1)
  expect(readings.length).toBeGreaterThan(0)
})

test('a batch of messages fails if the server falls silent, and when it is given up', async () => {
  const batch = { fromSeq: 1, maxMessages: 10, maxBytes: 1_000_000 }
  expect(await readBatch(nc, readingsStream, { ...batch, fromSeq: 1_000_000 })).toEqual([])
  const gone = new AbortController()
  gone.abort(new Error('gone'))
  await expect(readBatch(nc, readingsStream, { ...batch, signal: gone.signal })).rejects.toThrow(
    'gone',
  )
  nats.freeze()
  const silent = readBatch(nc, readingsStream, { ...batch, silentMs: 200 })
  await expect(silent).rejects.toThrow('READINGS could not be read: try again')
  nats.thaw()
  const read = await eventually('it is read again', () => readBatch(nc, readingsStream, batch))
  expect(read.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 10 }, (_, i) => (read[0]?.seq ?? 0) + i),
  )
})
