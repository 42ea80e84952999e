import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check'
import { expect, test } from 'vitest'
import { type Reading, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import {
  type StoreWriterOptions,
  startStoreWriter,
} from '../../pipeline/projections/store-writer.ts'
import type { ReadRows } from '../../pipeline/read-rows.ts'
import type { LogRows } from '../../pipeline/rows-at-hand.ts'
import { countOf } from '../../store/packed-readings.ts'
import { type RefusedRow, type StoreRow, StoreUnavailable } from '../../store/store.ts'
import { eventually } from '../support/eventually.ts'
import { logRowsOf, readingsIn } from '../support/log-rows.ts'
import { readingOf } from '../support/readings.ts'

const oneTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** A log that grows, and whose readers wait at its end. */
function growingLog() {
  const entries: LogRows[] = []
  const n = new Map<number, number>()
  let grown = Promise.withResolvers<void>()
  const readRows: ReadRows = async function* (fromSeq, stop) {
    for (let seq = fromSeq; !stop.aborted; ) {
      const entry = entries[seq - 1]
      if (entry !== undefined) {
        yield entry
        seq++
      } else {
        const aborted = new Promise<void>((resolve) =>
          stop.addEventListener('abort', () => resolve(), { once: true }),
        )
        await Promise.race([grown.promise, aborted])
      }
    }
  }
  return {
    entries,
    readRows,
    append: (partition: number, rows: number): LogRows => {
      const seq = entries.length + 1
      const made = Array.from({ length: rows }, (): Reading => {
        const next = (n.get(partition) ?? 0) + 1
        n.set(partition, next)
        return readingOf({
          sensor: 'NGR-LOS-IKJ-001' as SensorId,
          area: 'Ikeja',
          timeMs: next,
          pm25: next,
          aqi: null,
          flags: 0,
          seq: seqOf(partition, next),
        })
      })
      const entry = logRowsOf(partition, seq, made)
      entries.push(entry)
      grown.resolve()
      grown = Promise.withResolvers()
      return entry
    },
  }
}

type Write = (rows: readonly StoreRow[]) => Promise<readonly RefusedRow[]>

function writerOn(
  log: { readonly readRows: ReadRows },
  write: Write,
  more: Partial<StoreWriterOptions> = {},
) {
  const stop = new AbortController()
  const pauses: number[] = []
  const failures: unknown[] = []
  const writer = startStoreWriter({
    store: { writePacked: (batches) => write(readingsIn(...batches)) },
    readRows: log.readRows,
    onRefused: async () => undefined,
    onFailure: (error) => failures.push(error),
    onWritten: () => undefined,
    pause: async (ms) => {
      pauses.push(ms)
      await oneTurn()
    },
    stop: stop.signal,
    ...more,
  })
  return { writer, stop, pauses, failures }
}

test('a store that fails gets the same batch again, later and later, until it takes it', async () => {
  const log = growingLog()
  const tries: (readonly Reading[])[] = []
  const { writer, pauses, failures } = writerOn(log, async (rows) => {
    tries.push(rows)
    if (tries.length < 10) throw new StoreUnavailable('away')
    return []
  })
  writer.assign(0, 0, 0)
  writer.offer(log.append(0, 3))
  expect(writer.position(0)).toBe(0)
  await writer.passed(0, 1)
  expect(new Set(tries.map((rows) => JSON.stringify(rows))).size).toBe(1)
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
  expect(failures).toHaveLength(9)
  expect([writer.position(0), writer.waitingRows()]).toEqual([1, 0])
})

test('a failure nobody foresaw is waited out at length, and loses nothing either', async () => {
  const log = growingLog()
  let tries = 0
  const { writer, pauses } = writerOn(log, async () => {
    if (++tries === 1) throw new TypeError('a bug')
    return []
  })
  writer.assign(0, 0, 0)
  writer.offer(log.append(0, 1))
  await writer.passed(0, 1)
  expect(pauses).toEqual([5_000])
})

test('a position never passes a batch that is still under way', async () => {
  const log = growingLog()
  const writes: PromiseWithResolvers<readonly RefusedRow[]>[] = []
  const { writer } = writerOn(
    log,
    () => {
      const write = Promise.withResolvers<readonly RefusedRow[]>()
      writes.push(write)
      return write.promise
    },
    { lanes: 2, batchRows: 1 },
  )
  writer.assign(0, 0, 0)
  writer.assign(1, 0, 0)
  for (const partition of [0, 0, 1]) writer.offer(log.append(partition, 1))
  writer.offer(log.append(0, 0))
  await eventually('two batches are under way', () => writes.length === 2)
  writes[1]!.resolve([])
  await eventually('the third batch is under way', () => writes.length === 3)
  writes[2]!.resolve([])
  await writer.passed(1, 3)
  expect([writer.position(0), writer.position(1)]).toEqual([0, 3])
  let hasPassed = false
  const passed = writer.passed(0, 2).then(() => (hasPassed = true))
  await oneTurn()
  expect(hasPassed).toBe(false)
  writes[0]!.resolve([])
  await Promise.all([passed, writer.passed(0, 4)])
})

test('messages without rows pass at once where nothing waits before them', async () => {
  const log = growingLog()
  const { writer } = writerOn(log, async () => [])
  writer.assign(0, 0, 0)
  for (let i = 0; i < 3; i++) writer.offer(log.append(0, 0))
  expect(writer.position(0)).toBe(3)
  await writer.passed(0, 3)
})

test('a poison row is listed under its own partition before anything passes it', async () => {
  const log = growingLog()
  const listed = Promise.withResolvers<void>()
  const lists: [number, number[]][] = []
  const { writer } = writerOn(
    log,
    async (rows) => rows.filter((_, i) => i % 3 === 1).map((row) => ({ row, why: 'no' })),
    {
      onRefused: async (partition, refused) => {
        lists.push([partition, refused.map(({ row }) => row.timeMs)])
        await listed.promise
      },
    },
  )
  for (const partition of [4, 9]) writer.assign(partition, 0, 0)
  // offered in one turn: one write
  for (const partition of [4, 4, 9]) writer.offer(log.append(partition, 3))
  await eventually('the first refusal', () => lists.length > 0)
  expect(writer.position(4)).toBe(0)
  listed.resolve()
  await Promise.all([writer.passed(4, 2), writer.passed(9, 3)])
  expect(lists).toEqual([
    [4, [2, 5]],
    [9, [2]],
  ])
})

test('a row that no engine may take is listed before anything passes its message', async () => {
  const log = growingLog()
  const listed = Promise.withResolvers<void>()
  const lists: [number, string[]][] = []
  let written = 0
  const { writer } = writerOn(log, async () => [], {
    onRefused: async (partition, refused) => {
      lists.push([partition, refused.map(({ why }) => why)])
      await listed.promise
    },
    onWritten: (rows) => {
      written += rows
    },
  })
  writer.assign(4, 0, 0)
  const bad = readingOf({ seq: seqOf(4, 3) })
  writer.offer({ ...log.append(4, 2), faulty: [{ row: bad, why: 'no area' }] })
  writer.offer({ ...log.append(4, 0), faulty: [{ row: bad, why: 'nor this' }] })
  await eventually('the first is listed', () => lists.length > 0)
  expect(writer.position(4)).toBe(0)
  listed.resolve()
  await writer.passed(4, 2)
  expect(lists).toEqual([[4, ['no area', 'nor this']]])
  expect(written).toBe(2)
})

test('a store that stalls costs a bounded number of rows, and lacks none when it is back', async () => {
  const log = growingLog()
  const back = Promise.withResolvers<void>()
  const written = new Set<number>()
  const { writer, stop } = writerOn(
    log,
    async (rows) => {
      await back.promise
      for (const { seq } of rows) written.add(seq)
      return []
    },
    { maxRows: 1_000, batchRows: 200 },
  )
  for (let partition = 0; partition < 16; partition++) writer.assign(partition, 0, 0)
  let most = 0
  for (let i = 0; i < 2_000; i++) {
    writer.offer(log.append(i % 16, 50))
    most = Math.max(most, writer.waitingRows())
    if (i % 100 === 0) await oneTurn()
  }
  expect(most).toBeLessThanOrEqual(1_000)
  back.resolve()
  await eventually('everything is written', () => {
    expect(writer.waitingRows()).toBeLessThanOrEqual(1_050)
    return written.size === 100_000
  })
  const positions = Array.from({ length: 16 }, (_, partition) => writer.position(partition))
  await Promise.all(positions.map((_, partition) => writer.passed(partition, 1_985 + partition)))
  stop.abort()
})

test('a partition given away is not waited for, and taken back it begins where it is assigned', async () => {
  const log = growingLog()
  const written: number[] = []
  const { writer, stop } = writerOn(log, async (rows) => {
    written.push(...rows.map(({ timeMs }) => timeMs))
    return []
  })
  writer.assign(0, 0, 0)
  writer.offer(log.append(0, 1))
  await writer.passed(0, 1)
  writer.release(0)
  writer.offer(log.append(0, 1))
  expect(writer.position(0)).toBe(0)
  writer.assign(0, 1, 2)
  await writer.passed(0, 2)
  expect(written).toEqual([1, 2])
  stop.abort()
})

test('draining waits for what is held, but not for a store that is away', async () => {
  const log = growingLog()
  const room = Promise.withResolvers<void>()
  let isAway = false
  const { writer, stop } = writerOn(
    log,
    async () => {
      await room.promise
      if (isAway) throw new StoreUnavailable('away')
      return []
    },
    { batchRows: 1 },
  )
  writer.assign(0, 0, 0)
  await writer.drain()
  for (let i = 0; i < 3; i++) writer.offer(log.append(0, 1))
  const draining = writer.drain()
  room.resolve()
  await draining
  expect(writer.position(0)).toBe(3)
  isAway = true
  writer.offer(log.append(0, 1))
  await writer.drain()
  expect(writer.position(0)).toBe(3)
  stop.abort()
})

test('whatever fails, and whichever consumer comes and goes, a position says only what is true', async () => {
  const step = record({
    partition: integer({ min: 0, max: 3 }),
    rows: constantFrom(0, 1, 3, 20),
    isMoved: integer({ min: 0, max: 14 }).map((dice) => dice === 0),
    turns: constantFrom(0, 0, 0, 1, 3),
  })
  const fates = array(boolean(), { minLength: 1, maxLength: 20 })
  await assert(
    asyncProperty(array(step, { maxLength: 80 }), fates, async (steps, fate) => {
      const log = growingLog()
      const written = new Set<number>()
      let writes = 0
      const { writer, stop } = writerOn(
        log,
        async (rows) => {
          const fails = fate[writes++ % fate.length] === true && writes % 7 !== 0
          if (writes % 2 === 0) await oneTurn()
          if (fails) throw new StoreUnavailable('away')
          for (const { seq } of rows) written.add(seq)
          return []
        },
        { maxRows: 30, batchRows: 10 },
      )
      const lastOf = (partition: number): number =>
        log.entries.findLast((entry) => entry.partition === partition)?.seq ?? 0
      const lies = (): number[] =>
        log.entries
          .filter(({ partition, seq }) => seq <= writer.position(partition))
          .flatMap(({ rows }) => readingsIn(rows).map(({ seq }) => seq))
          .filter((seq) => !written.has(seq))
      for (let partition = 0; partition < 4; partition++) writer.assign(partition, 0, 0)
      for (const { partition, rows, isMoved, turns } of steps) {
        if (isMoved) {
          const position = writer.position(partition)
          writer.release(partition)
          writer.assign(partition, position, lastOf(partition))
        } else writer.offer(log.append(partition, rows))
        for (let turn = 0; turn < turns; turn++) await oneTurn()
        expect(lies()).toEqual([])
      }
      for (let partition = 0; partition < 4; partition++) {
        await writer.passed(partition, lastOf(partition))
      }
      expect(lies()).toEqual([])
      expect(written.size).toBe(log.entries.reduce((sum, { rows }) => sum + countOf(rows), 0))
      stop.abort()
    }),
    { numRuns: 150 },
  )
})
