/**
 * A stand-in for the pipeline in tests of its neighbours: it judges raw messages one by one, by a
 * few of the real rules, and writes READINGS like the real one, late lane included.
 */
import { type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { seqOf } from '../../core/air/reading.ts'
import { partitionCount, type SensorId } from '../../core/air/sensor-id.ts'
import { sameValues, type Values, valueOf } from '../../core/air/values.ts'
import { parseIso } from '../../core/iso-time.ts'
import type { ArrivedReading, Deferred, LogMessage } from '../../core/state/log-message.ts'
import type { RawReading } from '../../schemas/log/raw-reading.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { commitMessage } from './commit-message.ts'
import { valued } from './readings.ts'

type State = {
  readonly partition: number
  n: number
  rawLast: number
  lateTo: number
  readonly newest: Map<SensorId, number>
  readonly accepted: Map<string, Values>
}

type Verdict = {
  -readonly [Part in 'readings' | 'deferred' | 'refused' | 'duplicates']: LogMessage[Part][number][]
}

/** Judges what is in RAW, and what arrives, until disposed. */
export async function playPipeline(nc: NatsConnection): Promise<AsyncDisposable> {
  const consumers = await Promise.all(
    Array.from({ length: partitionCount }, async (_, partition) => {
      const consumer = await jetstream(nc).consumers.get(rawStream(partition))
      return { partition, messages: await consumer.consume() }
    }),
  )
  const work = consumers.map(async ({ partition, messages }) => {
    const state: State = {
      partition,
      n: 0,
      rawLast: 0,
      lateTo: 0,
      newest: new Map(),
      accepted: new Map(),
    }
    for await (const message of messages) await judge(nc, state, message)
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(consumers.map(({ messages }) => messages.close()))
      await Promise.all(work)
    },
  }
}

async function judge(nc: NatsConnection, state: State, raw: JsMsg): Promise<void> {
  const sensor = (raw.subject.split('.').at(-1) ?? '') as SensorId
  const verdict: Verdict = { readings: [], deferred: [], refused: [], duplicates: [] }
  const sent = raw.json<RawReading | RawReading[]>()
  const arrivedMs = Math.floor(raw.info.timestampNanos / 1e6)
  const items = Array.isArray(sent) ? sent : [sent]
  for (const [item, reading] of items.entries()) {
    const time = parseIso(reading.timestamp)
    const { values } = valued(hundredthsOf(reading))
    const temperature = valueOf(values, 'temperature') ?? 0
    const base = { rawSeq: raw.seq, item, sensor, why: '' }
    if (!('timeMs' in time)) verdict.refused.push({ ...base, reason: 'no_offset' })
    else if (temperature > 8_500 && valueOf(values, 'humidity') === null)
      verdict.refused.push({ ...base, reason: 'out_of_range' })
    else {
      if (temperature > 8_500) verdict.refused.push({ ...base, reason: 'partial' })
      const { timeMs } = time
      const place = { sensor, area: 'Played', timeMs, aqi: null, flags: 0, arrivedMs }
      const newest = state.newest.get(sensor) ?? -Infinity
      if (timeMs > newest) accept(state, verdict, { ...place, values })
      else verdict.deferred.push({ ...place, values, rawSeq: raw.seq, item })
    }
  }
  state.rawLast = raw.seq
  const { deferred } = verdict
  const seq = await commit(nc, state, verdict)
  if (deferred.length === 0) return
  const late: Verdict = { readings: [], deferred: [], refused: [], duplicates: [] }
  for (const one of deferred) judgeLate(state, late, one)
  state.lateTo = seq
  await commit(nc, state, late)
}

function accept(state: State, verdict: Verdict, reading: Omit<ArrivedReading, 'seq'>): void {
  const { sensor, timeMs } = reading
  state.newest.set(sensor, Math.max(timeMs, state.newest.get(sensor) ?? -Infinity))
  state.accepted.set(`${sensor} ${timeMs}`, reading.values)
  verdict.readings.push({ ...reading, seq: seqOf(state.partition, ++state.n) })
}

function judgeLate(state: State, verdict: Verdict, { rawSeq, item, ...reading }: Deferred): void {
  const known = state.accepted.get(`${reading.sensor} ${reading.timeMs}`)
  if (known === undefined) accept(state, verdict, reading)
  else if (sameValues(known, reading.values)) verdict.duplicates.push([reading.sensor, 1])
  else verdict.refused.push({ rawSeq, item, reason: 'conflict', sensor: reading.sensor, why: '' })
}

function hundredthsOf(reading: RawReading) {
  const of = (value: number | null | undefined): number | null =>
    value === null || value === undefined ? null : Math.round(value * 100)
  const { pm25, pm10, co2, temperature, humidity } = { ...reading, ...reading.measurements }
  return {
    pm25: of(pm25),
    pm10: of(pm10),
    co2: of(co2),
    temperature: of(temperature),
    humidity: of(humidity),
  }
}

/** @returns the sequence in READINGS */
async function commit(nc: NatsConnection, state: State, verdict: Verdict): Promise<number> {
  const { partition, rawLast, lateTo } = state
  return await commitMessage(nc, {
    partition,
    worker: 'played',
    rawLast,
    nLast: state.n,
    lateTo,
    ...verdict,
  })
}
