import { lastValueFrom, map, toArray } from 'rxjs'
import { expect, test } from 'vitest'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { createCredits, judgeBatches, pulledBatches } from '../../pipeline/batches.ts'
import type { RawBatch, RawMessage } from '../../pipeline/intake/raw-message.ts'
import type { RawSource } from '../../pipeline/intake/raw-source.ts'
import { parseSensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { newestLevel } from '../../schemas/format-level.ts'

const id = 'NGR-LOS-IKJ-017'
const arrivedMs = Date.UTC(2026, 0, 15, 10, 30)
const raw = (seq: number, body: unknown, sensor = id): RawMessage => ({
  seq,
  sensor,
  arrivedMs,
  isAgain: false,
  data: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
})
const sensorOf = (name: string): RegisteredSensor | undefined =>
  parseSensor(
    {
      id: name,
      cadence_seconds: 300,
      created_at: '',
      sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 0, lon: 0, address: '' }],
    },
    sensorIdRules(),
  )
const oneTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

function sourceOf(batches: readonly RawBatch[]) {
  let pulled = 0
  const source: RawSource = {
    next: async () => batches[pulled++],
    lastAtEndMs: () => 0,
    [Symbol.asyncDispose]: async () => undefined,
  }
  return { source, pulled: () => pulled }
}

const level = { current: () => newestLevel }
const options = {
  partition: partitionOf(id),
  sensorOf,
  earliestMs: 0,
  mayBeLate: () => true,
  level,
  checkSignature: async () => undefined,
}

test('no more batches are pulled than there are credits, however slow the rest is', async () => {
  const { source, pulled } = sourceOf(Array.from({ length: 10 }, (_, i) => [raw(i + 1, '{}')]))
  const credits = createCredits(3)
  const all = lastValueFrom(pulledBatches(source, credits).pipe(toArray()))
  await oneTurn()
  expect(pulled()).toBe(3)
  credits.give()
  await oneTurn()
  expect(pulled()).toBe(4)
  for (let i = 0; i < 7; i++) credits.give()
  expect(await all).toHaveLength(10)
})

test('a credit given while nobody waits is there for the next', async () => {
  const credits = createCredits(1)
  credits.give()
  await credits.take()
  await credits.take()
  let hasThird = false
  const third = credits.take().then(() => (hasThird = true))
  await oneTurn()
  expect(hasThird).toBe(false)
  credits.give()
  await third
})

test('a batch that is not full learns when those before it are done', async () => {
  const credits = createCredits(3)
  await credits.take()
  await credits.idle()
  await credits.take()
  let isIdle = false
  const idle = credits.idle().then(() => (isIdle = true))
  await oneTurn()
  expect(isIdle).toBe(false)
  credits.give()
  await idle
})

test('each item is judged by itself, and the raw messages stay at hand', async () => {
  const time = '2026-01-15T10:30:00Z'
  const batch = [
    raw(1, { timestamp: time, pm25: 1 }),
    raw(2, [{ timestamp: time, pm25: 1 }, 5, { timestamp: time }]),
    raw(3, '?'),
    raw(4, []),
  ]
  const { source } = sourceOf([batch])
  const judge = judgeBatches({ ...options, registryBarrier: async () => undefined })
  const [judged] = await lastValueFrom(
    pulledBatches(source, createCredits(2)).pipe(judge, toArray()),
  )
  const reasons = judged?.messages.map(({ items }) =>
    items.map((item) => ('reason' in item ? item.reason : `item ${item.item}`)),
  )
  expect(reasons).toEqual([
    ['item 0'],
    ['item 0', 'schema', 'out_of_range'],
    ['not_json'],
    ['empty'],
  ])
  expect(judged?.raws(3)).toBe(batch[2])
})

test('before a sensor is called unknown the registry must have caught up', async () => {
  const known = new Map<string, RegisteredSensor | undefined>()
  let barriers = 0
  const judge = judgeBatches({
    ...options,
    sensorOf: (name) => known.get(name),
    registryBarrier: async () => {
      barriers++
      await oneTurn()
      known.set(id, sensorOf(id))
    },
  })
  const body = { timestamp: '2026-01-15T10:30:00Z', pm25: 1 }
  const { source } = sourceOf([[raw(1, body)], [raw(2, body)]])
  const accepted = await lastValueFrom(
    pulledBatches(source, createCredits(3)).pipe(
      judge,
      map(({ messages }) => messages.flatMap(({ items }) => items.filter((i) => !('reason' in i)))),
      toArray(),
    ),
  )
  expect(accepted.map((items) => items.length)).toEqual([1, 1])
  expect(barriers).toBe(1)
})
