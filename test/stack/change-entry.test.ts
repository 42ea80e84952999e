import { type KV, Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { TryAgain } from '../../runtime/exit.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { changeEntry, putUnlessChanged, readAgain } from '../../runtime/nats/cas.ts'
import { testNats } from '../support/nats.ts'

async function openBucket(resources: AsyncDisposableStack): Promise<KV> {
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  return await new Kvm(nc).create('counted')
}

const add = (kv: KV, mostTries = 10): Promise<number | undefined> =>
  changeEntry(kv, 'n', (read) => Number(jsonOf(read) ?? 0) + 1, { mostTries })

test('of changes at the same time each is made exactly once, also after the entry was deleted', async () => {
  await using resources = new AsyncDisposableStack()
  const kv = await openBucket(resources)
  const written = await Promise.all(Array.from({ length: 20 }, () => add(kv, 20)))
  expect(written.toSorted((a = 0, b = 0) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
  await kv.delete('n')
  expect(await add(kv)).toBe(1)
})

test('an entry that needs no change, or cannot be right, is not written; a change that is never first is an error', async () => {
  await using resources = new AsyncDisposableStack()
  const kv = await openBucket(resources)
  await add(kv)
  expect(await changeEntry(kv, 'n', () => undefined)).toBeUndefined()
  let reads = 0
  expect(await changeEntry(kv, 'n', () => (++reads < 3 ? readAgain : 7))).toBe(7)
  expect(reads).toBe(3)

  const before = (await kv.get('n'))?.revision
  const overtaken = changeEntry(kv, 'n', async () => {
    await kv.put('n', '0')
    return 1
  })
  await expect(overtaken).rejects.toBeInstanceOf(TryAgain)
  expect((await kv.get('n'))?.revision).toBe((before ?? 0) + 10)

  const read = await kv.get('n')
  expect(await putUnlessChanged(kv, 'n', 1, read)).toBeTypeOf('number')
  expect(await putUnlessChanged(kv, 'n', 2, read)).toBe('overtaken')
  expect(jsonOf(await kv.get('n'))).toBe(1)
})
