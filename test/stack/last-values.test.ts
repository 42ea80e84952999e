import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { inParallel } from '../../runtime/in-parallel.ts'
import { lastValues } from '../../runtime/nats/last-values.ts'
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
