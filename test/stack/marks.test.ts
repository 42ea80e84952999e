/** What a waiting worker knows of the marks of all partitions, on a real server. */
import type { NatsConnection } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { watchMarks } from '../../pipeline/log/border.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { readingsSubject } from '../../schemas/subjects.ts'
import { commitMessage } from '../support/commit-message.ts'
import { testNats } from '../support/nats.ts'

let resources: AsyncDisposableStack
let nc: NatsConnection
let stop: AbortController

beforeEach(async () => {
  resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  stop = new AbortController()
  resources.defer(() => stop.abort())
})
afterEach(() => resources.disposeAsync())

const mark = (partition: number): Promise<number> =>
  commitMessage(nc, { partition, nLast: 0, leafVersion: 2, isMark: true })

const open = () =>
  watchMarks({
    nc,
    stop: stop.signal,
    pause: () => Promise.resolve(),
    onRetry: () => undefined,
  })

const others = Array.from({ length: partitionCount - 1 }, (_, i) => i + 1)

test('it waits for the last mark, whether marks came before its own or after it', async () => {
  for (const partition of others.slice(0, 7)) await mark(partition)
  const own = await mark(0)
  await commitMessage(nc, { partition: 8, nLast: 0 })
  const marks = open()
  let isDone = false
  const waiting = marks.untilAll(own).then(() => {
    isDone = true
  })
  for (const partition of others.slice(7, -1)) await mark(partition)
  // the second watch starts when all but one are there
  const late = open()
  const lateWaiting = late.untilAll(own)
  expect([isDone, marks.areAll(), late.areAll()]).toEqual([false, false, false])
  await mark(partitionCount - 1)
  await Promise.all([waiting, lateWaiting])
  expect([marks.areAll(), late.areAll()]).toEqual([true, true])
})

test('a foreign message after a mark hides nothing', async () => {
  for (const partition of others) await mark(partition)
  for (const partition of [3, 9])
    await nc.request(readingsSubject(partition), '{"v":3,"listened":0}')
  const own = await mark(0)
  const marks = open()
  await marks.untilAll(own)
  expect(marks.areAll()).toBe(true)
})

test('a process that stops does not wait', async () => {
  const own = await mark(0)
  const marks = open()
  const waiting = marks.untilAll(own)
  stop.abort()
  await waiting
  expect(marks.areAll()).toBe(false)
})
