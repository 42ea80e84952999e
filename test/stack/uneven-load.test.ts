/** Sensors that send much more than others: each reading is stored once, and so are those of the others. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { nOfSeq, partitionOfSeq, type Reading } from '../../core/air/reading.ts'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { readRows, untilStored } from '../support/chaos/read-store.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'

let pipeline: TestPipeline
beforeAll(async () => {
  pipeline = await testPipeline()
})
afterAll(async () => {
  await pipeline[Symbol.asyncDispose]()
})

const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs
const at = (timeMs: number, pm25 = 10) => ({ timestamp: new Date(timeMs).toISOString(), pm25 })

/** Ids of one partition, or of any other. */
function* idsOf(isWanted: (partition: number) => boolean): Generator<string, never> {
  for (let i = 1; ; i++) {
    const id = `NGR-LOS-UNE-${String(i).padStart(5, '0')}`
    if (isWanted(partitionOf(id))) yield id
  }
}

/** How many of each sensor are stored; and all numbers of a partition are there once. */
function countsOf(rows: readonly Reading[], ids: readonly string[]): readonly number[] {
  for (const ofPartition of Map.groupBy(rows, ({ seq }) => partitionOfSeq(seq)).values())
    expect(ofPartition.map(({ seq }) => nOfSeq(seq)).toSorted((a, b) => a - b)).toEqual(
      ofPartition.map((_, i) => i + 1),
    )
  const counts = Map.groupBy(rows, ({ sensor }) => sensor as string)
  return ids.map((id) => counts.get(id)?.length ?? 0)
}

test('of a partition with twenty times the readings of the others all are stored, and of the others', async () => {
  const crowd = [...idsOf((p) => p === 3).take(20)]
  const others = [...idsOf((p) => p !== 3).take(15)]
  await pipeline.register(...[...crowd, ...others].map((id) => entryOf(id)))
  const rounds = 60
  for (let round = rounds; round > 0; round--)
    await Promise.all([
      ...crowd.map((id) => pipeline.publish(id, at(nowMs - round * 1_000))),
      ...others.map((id) => pipeline.publish(id, at(nowMs - round * 1_000))),
    ])
  const rows = await untilStored(pipeline.store, rounds * (crowd.length + others.length))
  expect(new Set(countsOf(rows, [...crowd, ...others]))).toEqual(new Set([rounds]))
})

test('a sensor that sends a year at once, newest first and half of it twice, is stored whole and once', async () => {
  const long = 'NGR-LOS-YEA-001'
  const [neighbour = ''] = idsOf((p) => p === partitionOf(long))
  await pipeline.register(entryOf(long), entryOf(neighbour))
  const { length: before } = await readRows(pipeline.store)
  const stepMs = inject('soak') ? minuteMs : hourMs
  const count = (365 * dayMs) / stepMs
  const year = Array.from({ length: count }, (_, i) =>
    // high enough for an alert, if it were of today
    at(nowMs - i * stepMs, i === 0 ? 10 : 400),
  )
  const messages = Array.from({ length: Math.ceil(count / 500) }, (_, i) =>
    year.slice(i * 500, (i + 1) * 500),
  )
  await Promise.all(messages.map((some) => pipeline.publish(long, some)))
  await pipeline.publish(neighbour, at(nowMs))
  // a million late readings are a day's most
  const again = messages.slice(0, messages.length / 2)
  await Promise.all(again.map((some) => pipeline.publish(long, some)))
  const { accepted, duplicates, refused, events } = await pipeline.outcomeOf(long)
  expect([accepted.length, duplicates, refused]).toEqual([count, again.flat().length, []])
  // what is long past raises no alarm today
  expect(events.filter(({ kind }) => kind === 'rise')).toEqual([])
  const rows = await untilStored(pipeline.store, before + count + 1)
  expect(countsOf(rows, [long])).toEqual([count])
})
