/** Which sensors have readings in a run, by the UTC day in which they were measured. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Reading } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import type { BatchHeader } from '../core/proof/header.ts'
import { dayMs, floorTo, hourMs } from '../core/time.ts'
import { followLog } from '../runtime/nats/follow-log.ts'
import { readingsStream } from '../schemas/subjects.ts'
import type { Store } from '../store/store.ts'

/** By the start of the day. */
export type TouchedDays = ReadonlyMap<number, ReadonlySet<SensorId>>

type Options = {
  readonly nc: NatsConnection
  readonly store: Pick<Store, 'rangeAll'>
  readonly headers: readonly BatchHeader[]
  readonly isOfRun: (seq: number) => boolean
  readonly stop: AbortSignal
}

/**
 * From the log, which has it in the order of acceptance; where the log was trimmed, by a look at all
 * rows of the days that the batches name.
 */
export async function touchedDays(options: Options): Promise<TouchedDays> {
  return (await daysOfLog(options)) ?? (await daysOfStore(options))
}

function dayBook() {
  const days = new Map<number, Set<SensorId>>()
  let count = 0
  return {
    days,
    count: () => count,
    note: ({ sensor, timeMs }: Pick<Reading, 'sensor' | 'timeMs'>): void => {
      count++
      const day = floorTo(timeMs, dayMs)
      const sensors = days.get(day)
      if (sensors === undefined) days.set(day, new Set([sensor]))
      else sensors.add(sensor)
    },
  }
}

/** undefined: the log does not have all of it any more. */
async function daysOfLog({
  nc,
  headers,
  isOfRun,
  stop,
}: Options): Promise<TouchedDays | undefined> {
  const [first, last] = [headers[0]?.first ?? 0, headers.at(-1)?.last ?? 0]
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(readingsStream)
  if (state.first_seq > first || state.last_seq < last) return undefined
  const book = dayBook()
  await using log = await followLog(nc, { fromSeq: first })
  const close = (): void => void log[Symbol.asyncDispose]()
  stop.addEventListener('abort', close, { once: true })
  try {
    for await (const { seq, message } of log) {
      if (seq > last) break
      for (const reading of message?.readings ?? []) if (isOfRun(reading.seq)) book.note(reading)
      if (seq === last) break
    }
  } finally {
    stop.removeEventListener('abort', close)
  }
  stop.throwIfAborted()
  // it may have been trimmed while it was read
  const wanted = headers.reduce((sum, { count }) => sum + count, 0)
  return book.count() === wanted ? book.days : undefined
}

const pageRows = 5_000

async function daysOfStore({ store, headers, isOfRun, stop }: Options): Promise<TouchedDays> {
  const held = headers.filter(({ count }) => count > 0)
  const fromMs = held.reduce((least, { timeMinMs }) => Math.min(least, timeMinMs), Infinity)
  const toMs = held.reduce((most, { timeMaxMs }) => Math.max(most, timeMaxMs), -Infinity) + 1
  const book = dayBook()
  for (let start = floorTo(fromMs, hourMs); start < toMs; start += hourMs) {
    stop.throwIfAborted()
    const end = Math.min(toMs, start + hourMs)
    let page = await store.rangeAll(start, end, pageRows, undefined, 'asc')
    for (;;) {
      for (const reading of page) if (isOfRun(reading.seq)) book.note(reading)
      const last = page.at(-1)
      if (page.length < pageRows || last === undefined) break
      page = await store.rangeAll(start, end, pageRows, last, 'asc')
    }
  }
  return book.days
}
