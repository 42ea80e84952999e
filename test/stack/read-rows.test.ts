/** How the projections of a pipeline read the log: what it committed from memory, the rest from NATS. */
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { nOfSeq } from '../../core/air/reading.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { readRowsOf } from '../../pipeline/read-rows.ts'
import { type LogRows, RowsAtHand } from '../../pipeline/rows-at-hand.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { messageAt } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { publishReading } from '../support/log-reading.ts'
import { readingsIn } from '../support/log-rows.ts'
import { testNats } from '../support/nats.ts'

async function openCity() {
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats({ syncAlways: true }))
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const opened = resources.move()
  return { nats, nc, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function readOn(nc: NatsConnection, atHand: RowsAtHand, fromSeq: number) {
  const seen: LogRows[] = []
  const stop = new AbortController()
  const ended = (async () => {
    for await (const rows of readRowsOf(nc, atHand)(fromSeq, stop.signal)) seen.push(rows)
  })()
  return {
    seen,
    numbers: (): (number | undefined)[][] =>
      seen.map(({ seq, rows }) => [seq, readingsIn(rows).map((row) => nOfSeq(row.seq))[0]]),
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}

const messageOf = async (nc: NatsConnection, seq: number): Promise<LogMessage> => {
  const stored = await messageAt(nc, readingsStream, seq)
  const message = stored && (await logReader(nc)(stored))
  if (message === undefined) throw new Error(`no message ${seq}`)
  return message
}

test('what this process committed comes from memory, and all else from NATS, in order', async () => {
  await using city = await openCity()
  const { nc } = city
  for (let n = 1; n <= 5; n++) await publishReading(nc, n)
  const atHand = new RowsAtHand()
  const own = [4, 5].map(async (seq) => atHand.of(await messageOf(nc, seq), seq))
  const rows = await Promise.all(own)
  await jetstream(nc).publish(readingsSubject(4), 'something else')
  await publishReading(nc, 6)
  await using reader = readOn(nc, atHand, 2)
  await eventually('all is read', () => reader.seen.at(-1)?.seq === 7)
  const former = [
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 5],
    [6, undefined],
    [7, 6],
  ]
  expect(reader.numbers()).toEqual(former)
  expect([reader.seen[2], reader.seen[3]]).toEqual([rows[0], rows[1]])
  expect(reader.seen[2]).toBe(rows[0])

  // NATS does not have this one: it can come from memory alone
  const last = await messageOf(nc, 7)
  const next = { ...last, worker: 'ours', readings: [], nLast: last.nLast }
  atHand.of(next, 8)
  await eventually('it is read from memory', () => reader.seen.at(-1) === atHand.at(8))
  expect(reader.numbers()).toEqual([...former, [8, undefined]])
})

test('what other processes commit is found between what is at hand', async () => {
  await using city = await openCity()
  const { nc } = city
  const atHand = new RowsAtHand()
  await using reader = readOn(nc, atHand, 1)
  for (let n = 1; n <= 9; n++) {
    const seq = await publishReading(nc, n)
    if (n % 3 === 0) atHand.of(await messageOf(nc, seq), seq)
  }
  await eventually('all is read', () => reader.seen.length === 9)
  expect(reader.numbers()).toEqual(Array.from({ length: 9 }, (_, i) => [i + 1, i + 1]))
})

test('no message is lost or read twice while the server is killed, and a stop ends a wait at once', async () => {
  await using city = await openCity()
  const { nats, nc } = city
  const reader = readOn(nc, new RowsAtHand(), 1)
  let last = 0
  for (const how of ['up', 'killed', 'frozen', 'up'] as const) {
    if (how === 'killed') {
      await nats.kill()
      await nats.restart()
    } else if (how === 'frozen') {
      nats.freeze()
      const sinceMs = performance.now()
      await eventually('it is silent for long', () => performance.now() - sinceMs > 2_500)
      nats.thaw()
    }
    last = await eventually('the log takes a message', () =>
      publishReading(nc, last + 1).catch(() => undefined),
    )
    await eventually('it is read', () => reader.seen.at(-1)?.seq === last)
  }
  expect(reader.seen.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1))
  const sinceMs = performance.now()
  await reader[Symbol.asyncDispose]()
  expect(performance.now() - sinceMs).toBeLessThan(400)
})
