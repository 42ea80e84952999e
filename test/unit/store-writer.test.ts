import { expect, test } from 'vitest'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import {
  type StoreWriterOptions,
  startStoreWriter,
} from '../../pipeline/projections/store-writer.ts'
import type { ReadRows } from '../../pipeline/read-rows.ts'
import type { LogRows } from '../../pipeline/rows-at-hand.ts'
import { eventually } from '../support/eventually.ts'
import { logRowsOf, readingsIn } from '../support/log-rows.ts'
import { readingOf } from '../support/readings.ts'

const rowOf = (partition: number, seq: number): Reading =>
  readingOf({
    sensor: `NGR-LOS-IKJ-${String(partition).padStart(3, '0')}` as SensorId,
    area: 'Ikeja',
    timeMs: seq * 1_000,
    pm25: seq,
    aqi: null,
    flags: 0,
    seq,
  })
const entryOf = (partition: number, seq: number): LogRows =>
  logRowsOf(partition, seq, [rowOf(partition, seq)])

/** A log in memory that is read step by step: each `release` lets one more entry out. */
function steppedLog(entries: readonly LogRows[]) {
  const waiting: (() => void)[] = []
  let allowed = 0
  let isOpen = false
  const readRows: ReadRows = async function* (fromSeq, stop) {
    const stopped = new Promise<void>((resolve) => {
      stop.addEventListener('abort', () => resolve(), { once: true })
    })
    for (const entry of entries) {
      if (entry.seq < fromSeq) continue
      if (allowed > 0) allowed--
      else if (!isOpen) {
        await Promise.race([stopped, new Promise<void>((resolve) => waiting.push(resolve))])
      }
      if (stop.aborted) return
      yield entry
    }
    await stopped
  }
  return {
    readRows,
    release: () => {
      const next = waiting.shift()
      if (next === undefined) allowed++
      else next()
    },
    open: () => {
      isOpen = true
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

function writerOn(readRows: ReadRows, more: Partial<StoreWriterOptions> = {}) {
  const written: Reading[] = []
  const stop = new AbortController()
  const writer = startStoreWriter({
    store: {
      writePacked: async (batches) => {
        written.push(...readingsIn(...batches))
        return []
      },
    },
    readRows,
    onRefused: async () => undefined,
    onFailure: () => undefined,
    onWritten: () => undefined,
    pause: async () => undefined,
    stop: stop.signal,
    ...more,
  })
  return { writer, written, stop }
}

test('a partition taken over while another catches up misses none of its rows', async () => {
  const log = steppedLog([
    entryOf(1, 1),
    entryOf(0, 2),
    entryOf(1, 3),
    entryOf(0, 4),
    entryOf(1, 5),
    entryOf(0, 6),
  ])
  const { writer, written, stop } = writerOn(log.readRows)
  writer.assign(0, 2, 6)
  log.release()
  log.release()
  await eventually('partition 0 reads on', () => writer.position(0) === 4)
  writer.assign(1, 0, 5)
  log.open()
  await eventually('both have arrived', () => writer.position(0) === 6 && writer.position(1) === 5)
  expect(written.filter((row) => row.sensor.endsWith('001')).map(({ seq }) => seq)).toEqual([
    1, 3, 5,
  ])
  stop.abort()
})

test('what is dropped behind the reader of another partition is read again', async () => {
  const log = steppedLog([entryOf(1, 1), entryOf(0, 2), entryOf(1, 3), entryOf(0, 4)])
  const room = Promise.withResolvers<void>()
  const { writer, written, stop } = writerOn(log.readRows, {
    maxRows: 1,
    lanes: 1,
    batchRows: 1,
    store: {
      writePacked: async (batches) => {
        await room.promise
        written.push(...readingsIn(...batches))
        return []
      },
    },
  })
  writer.assign(0, 0, 0)
  writer.assign(1, 0, 0)
  writer.offer(entryOf(1, 1))
  // no room: each is dropped, and the log holds it
  writer.offer(entryOf(0, 2))
  writer.offer(entryOf(1, 3))
  writer.offer(entryOf(0, 4))
  expect(writer.waitingRows()).toBe(1)
  log.open()
  room.resolve()
  await eventually('both have arrived', () => writer.position(0) === 4 && writer.position(1) === 3)
  expect(written.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
  stop.abort()
})

test('what is committed in one turn is one write, and what comes during a write is the next', async () => {
  const writes: (readonly number[])[] = []
  const taken = Promise.withResolvers<void>()
  const { writer } = writerOn(steppedLog([]).readRows, {
    store: {
      writePacked: async (batches) => {
        writes.push(readingsIn(...batches).map(({ seq }) => seq))
        await taken.promise
        return []
      },
    },
    lanes: 2,
  })
  for (const partition of [0, 1, 2]) writer.assign(partition, 0, 0)
  writer.offer(entryOf(0, 1))
  writer.offer(entryOf(1, 2))
  await eventually('the first write has begun', () => writes.length === 1)
  writer.offer(entryOf(2, 3))
  writer.offer(entryOf(0, 4))
  const drained = writer.drain()
  taken.resolve()
  await drained
  expect(writes).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test('while a write is under way, another one that is full begins beside it', async () => {
  let writes = 0
  const taken = Promise.withResolvers<void>()
  const { writer } = writerOn(steppedLog([]).readRows, {
    store: {
      writePacked: async () => {
        writes++
        await taken.promise
        return []
      },
    },
    batchRows: 2,
    lanes: 2,
  })
  writer.assign(0, 0, 0)
  writer.offer(entryOf(0, 1))
  await eventually('the first write has begun', () => writes === 1)
  writer.offer(entryOf(0, 2))
  writer.offer(entryOf(0, 3))
  await eventually('the second write has begun', () => writes === 2)
  taken.resolve()
  await writer.drain()
  expect(writer.position(0)).toBe(3)
})
