import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { inParallel } from '../../runtime/in-parallel.ts'
import { currentValues, lastValues } from '../../runtime/nats/buckets/last-values.ts'
import {
  firstSince,
  lastMessage,
  messageAt,
  nextMessage,
} from '../../runtime/nats/stored-message.ts'
import { testNats } from '../support/nats.ts'

test('values are requested without end, and no consumer stays on the server', async () => {
  await using nats = await testNats()
  await using opened = new AsyncDisposableStack()
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  const kv = await new Kvm(nc).create('some')
  for (const key of ['a', 'b.c', 'b.d', 'b.e.f']) await kv.put(key, `of ${key}`)
  await kv.delete('b.d')
  const ask = async (...keys: string[]) => [...(await lastValues(nc, 'some', keys))]
  // a connection has 1,000 subscriptions
  await inParallel(
    Array.from({ length: 600 }, (_, n) => n),
    20,
    async () => {
      expect(await ask('a', 'b.*')).toEqual([
        ['a', 'of a'],
        ['b.c', 'of b.c'],
      ])
      expect(await ask('nothing')).toEqual([])
    },
  )
  expect(await ask('b.>')).toEqual([
    ['b.c', 'of b.c'],
    ['b.e.f', 'of b.e.f'],
  ])
  const { state } = await (await jetstreamManager(nc)).streams.info('KV_some')
  expect(state.consumer_count).toBe(0)
})

test('what is decided for good is asked of the leader, not of a replica that may lag', async () => {
  await using nats = await testNats()
  await using opened = new AsyncDisposableStack()
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  // a stream that no replica answers for
  const kv = await new Kvm(nc).create('led', { allow_direct: false })
  for (const key of ['a', 'b.c', 'b.d']) await kv.put(key, `of ${key}`)
  await kv.delete('b.d')
  expect([...(await currentValues(nc, 'led', 'b.>'))]).toEqual([['b.c', 'of b.c']])
  const subject = '$KV.led.b.c'
  const found = await Promise.all([
    lastMessage(nc, 'KV_led', subject),
    messageAt(nc, 'KV_led', 2),
    nextMessage(nc, 'KV_led', subject, 1),
  ])
  expect(found.map((stored) => stored?.seq)).toEqual([2, 2, 2])
  // several messages may have the same millisecond: the first of them is found
  const times = await Promise.all(
    [1, 2, 3].map(async (seq) => (await messageAt(nc, 'KV_led', seq))?.timeMs ?? 0),
  )
  for (const timeMs of times) {
    const first = times.findIndex((other) => other >= timeMs) + 1
    expect(await firstSince(nc, 'KV_led', timeMs)).toBe(first)
  }
  expect(await firstSince(nc, 'KV_led', Math.max(...times) + 60_000)).toBeUndefined()
  // the canary
  await expect(lastValues(nc, 'led', ['a'])).rejects.toThrow(/no responders/i)
})
