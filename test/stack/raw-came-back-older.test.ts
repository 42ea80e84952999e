/** The broker comes back with an older copy of RAW while the pipeline lives: a restored volume. */
import { jetstream } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { valueOf } from '../../core/air/values.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { Beat } from '../../pipeline/intake/beat.ts'
import { openRawSource } from '../../pipeline/intake/raw-source.ts'
import { exitCodeOf, exitCodes } from '../../runtime/exit.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { rawStream, rawSubject } from '../../schemas/subjects.ts'
import { faultsOf, readLog } from '../support/chaos/read-log.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'

const sensor = 'NGR-LOS-IKJ-017'
const stream = rawStream(partitionOf(sensor))
const startMs = Date.now() - 3_600 * secondMs

const send = async (pipeline: TestPipeline, from: number, to: number): Promise<void> => {
  for (let i = from; i < to; i++) {
    const timestamp = new Date(startMs + i * secondMs).toISOString()
    await eventually('RAW takes it', () =>
      pipeline.publish(sensor, { timestamp, pm25: i }).catch(() => undefined),
    )
  }
}

const acceptedOf = async ({ nc }: TestPipeline): Promise<readonly (number | null)[]> =>
  (await readLog(nc)).flatMap(({ message }) =>
    message.readings.map(({ values }) => valueOf(values, 'pm25')),
  )

const hundredths = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => 100 * (from + i))

const sentAgain = 25

test.concurrent('a RAW stream that comes back older loses nothing of what it acknowledges after that', async () => {
  await using pipeline = await testPipeline()
  await pipeline.register(entryOf(sensor))
  await send(pipeline, 0, 10)
  await pipeline.judged()
  await pipeline.nats.keepStreams(stream)
  await send(pipeline, 10, 20)
  await eventually('all are judged', async () => (await acceptedOf(pipeline)).length === 20)
  const ended = pipeline.ended()
  await pipeline.nats.putStreamsBack(stream)
  await send(pipeline, 20, 20 + sentAgain)
  const error = await ended
  expect(exitCodeOf(error)).toBe(exitCodes.tryAgain)
  expect(String(error)).toContain(`${stream} has come back older`)
  await pipeline.start()
  await eventually('all are judged', async () => {
    return (await acceptedOf(pipeline)).length === 20 + sentAgain
  })
  expect(await acceptedOf(pipeline)).toEqual(hundredths(0, 20 + sentAgain))
  expect(faultsOf(await readLog(pipeline.nc))).toEqual([])
  expect(await pipeline.metric('airproof_raw_lost_total', 'process="pipeline"')).toBe(1)
})

test.concurrent.each([
  { how: 'fewer', sent: 3 },
  { how: 'as many', sent: 10 },
  { how: 'more', sent: 25 },
])(
  'that RAW holds $how messages than were pulled of it, of the same sequences, is seen at once',
  async ({ sent }) => {
    await using nats = await testNats({ syncAlways: true })
    await using resources = new AsyncDisposableStack()
    const nc = await nats.connect()
    resources.defer(() => nc.close())
    await ensureStreams(nc)
    const publish = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++)
        await eventually('RAW takes it', () =>
          jetstream(nc)
            .publish(rawSubject(5, sensor), `${i}`)
            .catch(() => undefined),
        )
    }
    let now = 0
    await publish(10)
    await nats.keepStreams(rawStream(5))
    await publish(10)
    const source = await openRawSource(nc, {
      partition: 5,
      fromSeq: 1,
      beat: new Beat(() => performance.now()),
      nowMs: () => now,
    })
    resources.use(source)
    const pulled: number[] = []
    const pull = async (most: number): Promise<void> => {
      while (pulled.length < most) {
        const batch = source.next()
        now += 100
        for (const { seq } of (await batch) ?? []) pulled.push(seq)
      }
    }
    await pull(20)
    // by its clock the server has not been silent yet, so it looks when all are there
    await nats.putStreamsBack(rawStream(5))
    await publish(sent)
    now += minuteMs
    await expect(source.next()).rejects.toThrow('has come back older')
    expect(pulled).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  },
)
