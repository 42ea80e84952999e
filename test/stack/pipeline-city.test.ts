import { Kvm } from '@nats-io/kv'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { nOfSeq, type Reading } from '../../core/air/reading.ts'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { minuteMs } from '../../core/time.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { messageAt } from '../../runtime/nats/stored-message.ts'
import { eventSchema } from '../../schemas/log/event.ts'
import { readingsSchemaV3 } from '../../schemas/log/readings-message.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'

const nowMs = Date.now()
const at = (ms: number): string => new Date(ms).toISOString()
const idsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `NGR-LOS-BAS-${String(i).padStart(3, '0')}`)

/** Everyone measures `count` times, the last time now. */
async function city(pipeline: TestPipeline, ids: readonly string[], count: number): Promise<void> {
  await pipeline.register(...ids.map((id) => entryOf(id)))
  for (let i = count - 1; i >= 0; i--) {
    const timestamp = at(nowMs - i * minuteMs)
    const bodyOf = (k: number) => ({ timestamp, pm25: (k * 37 + i * 90) % 400, humidity: 60 + k })
    await Promise.all(ids.map((id, k) => pipeline.publish(id, bodyOf(k))))
  }
}

const rowOf = ({ sensor, area, timeMs, values, aqi, flags, seq }: Reading): Reading => ({
  leafVersion: 2,
  sensor,
  area,
  timeMs,
  values,
  aqi,
  flags,
  seq,
})

describe('a city on the pipeline', () => {
  test('what was accepted is numbered without gaps and in the store bit for bit', async () => {
    await using pipeline = await testPipeline()
    await city(pipeline, idsOf(40), 12)
    const log = await pipeline.judged()
    const accepted = log.flatMap(({ readings }) => readings)
    expect(accepted).toHaveLength(480)
    for (let p = 0; p < 16; p++) {
      const own = log.filter(({ partition }) => partition === p)
      const numbers = own.flatMap(({ readings }) => readings.map(({ seq }) => nOfSeq(seq)))
      expect(numbers).toEqual(numbers.map((_, i) => i + 1))
      expect(own.every(({ worker }) => worker.startsWith('pipeline-'))).toBe(true)
    }
    const stored = await eventually('every row is stored', async () => {
      const rows = await pipeline.store.existing(accepted)
      return rows.every((row) => row !== undefined) && rows
    })
    expect(stored).toEqual(accepted.map(rowOf))
  })

  test('every message of the log is as its schema says', async () => {
    await using pipeline = await testPipeline()
    await city(pipeline, idsOf(20), 4)
    await pipeline.publish('NGR-LOS-XXX-001', '?')
    await pipeline.publish(idsOf(1)[0]!, { timestamp: at(nowMs - 90_000), pm25: 5 })
    const log = await pipeline.judged()
    const isMessage = new Ajv({ strict: false }).compile(readingsSchemaV3)
    for (let seq = 1; seq <= log.length; seq++) {
      const stored = await messageAt(pipeline.nc, readingsStream, seq)
      const body: unknown = JSON.parse(new TextDecoder().decode(stored?.data))
      isMessage(body)
      expect(isMessage.errors).toBeNull()
    }
    expect(log.length).toBeGreaterThan(10)
  })

  test('copies of events are as their schema says, and carry the leaf of their reading', async () => {
    await using pipeline = await testPipeline()
    const ids = idsOf(10)
    await city(pipeline, ids, 10)
    const keccak = await createKeccak()
    const isEvent = new Ajv({ strict: false }).compile(eventSchema)
    const kinds = new Set<string>()
    for (const id of ids) {
      const { accepted, events } = await pipeline.outcomeOf(id)
      for (const event of events) {
        kinds.add(event.kind)
        isEvent(event)
        expect(isEvent.errors).toBeNull()
        if (event.kind === 'offline') continue
        const reading = accepted.find(({ seq }) => seq === event.reading.seq)!
        expect(event.reading.hash).toBe(`0x${Buffer.from(leafOf(reading, keccak)).toString('hex')}`)
        expect(event).toMatchObject({ sensor_id: id, area: 'Ikeja', address: '1 Road' })
        expect(event.reading.measurements.pm25).toBe((reading.values[0] ?? 0) / 100)
      }
    }
    expect(kinds).toEqual(new Set(['online', 'quality', 'rise']))
  })

  test('a webhook of its own threshold makes its rise known', async () => {
    await using pipeline = await testPipeline()
    const id = idsOf(1)[0]!
    await pipeline.register(entryOf(id))
    const rises = async (): Promise<unknown[]> =>
      (await pipeline.outcomeOf(id)).events
        .filter(({ kind }) => kind === 'rise')
        .map((event) => 'from' in event && [event.from, event.to])
    await pipeline.publish(id, { timestamp: at(nowMs - 5 * minuteMs), pm25: 5 })
    expect(await rises()).toEqual([])
    const webhooks = await new Kvm(pipeline.nc).open(buckets.webhooks)
    await webhooks.put('one', JSON.stringify({ filters: { aqi_threshold: 60.5 } }))
    let minutes = 5
    // the watch may bring it after the next reading: one after the other rises above and falls below
    await eventually('a rise across 60', async () => {
      for (const pm25 of [20, 5, 5]) {
        minutes -= 0.01
        await pipeline.publish(id, { timestamp: at(nowMs - minutes * minuteMs), pm25 })
      }
      return (await rises()).length > 0
    })
    const [first] = (await rises()) as [number, number][]
    expect(first?.[0]).toBeLessThanOrEqual(60)
    expect(first?.[1]).toBeGreaterThan(60)
  })
})

test('stopped and started, it goes on where it was: nothing lost, nothing twice', async () => {
  await using pipeline = await testPipeline()
  const ids = idsOf(16)
  await city(pipeline, ids, 3)
  const before = await pipeline.judged()
  const eventsBefore = before.reduce((sum, { events }) => sum + events.length, 0)
  await pipeline.stop()
  const later = at(nowMs + minuteMs)
  for (const id of ids) await pipeline.publish(id, { timestamp: later, pm25: 7, humidity: 50 })
  await pipeline.start()
  const log = await pipeline.judged()
  const accepted = log.flatMap(({ readings }) => readings)
  expect(accepted).toHaveLength(16 * 4)
  expect(new Set(accepted.map(({ sensor, timeMs }) => `${sensor} ${timeMs}`)).size).toBe(16 * 4)
  const workers = new Set(log.map(({ worker }) => worker))
  expect([...workers].map((worker) => worker.split('-').at(-1))).toEqual(['1', '2'])
  const online = log.flatMap(({ events }) => events.filter(({ kind }) => kind === 'online'))
  expect(online).toHaveLength(16)
  expect(eventsBefore).toBeGreaterThanOrEqual(16)
  for (const id of ids) {
    const { events } = await pipeline.outcomeOf(id)
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
  }
  await eventually('all rows are stored', async () =>
    (await pipeline.store.existing(accepted)).every((row) => row !== undefined),
  )
})

test('a subject of control characters and quotes is a stranger like any other', async () => {
  await using pipeline = await testPipeline()
  const names = ['"\\', '\u0001'.repeat(200), 'é'.repeat(100), "';--", '{}', 'x'.repeat(400)]
  for (const name of names) await pipeline.publish(name, {}, { partition: partitionOf('x') })
  await pipeline.publish('"\\', { timestamp: at(nowMs), pm25: 1 }, { partition: 3 })
  const log = await pipeline.judged()
  const refused = log.flatMap((message) => message.refused)
  expect(refused.map(({ sensor }) => sensor)).toEqual(
    expect.arrayContaining(names.map((name) => name.slice(0, 128))),
  )
  for (const { partition, refused: own } of log) {
    for (const one of own) expect((await pipeline.kept(one, partition)).length).toBeGreaterThan(1)
  }
})
