import { expect, test } from 'vitest'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { eventually } from '../support/eventually.ts'
import { publishReading } from '../support/log-reading.ts'
import { testNats } from '../support/nats.ts'

test('the log is followed in order and without a gap through kills and long sleeps of the server', async () => {
  await using nats = await testNats({ syncAlways: true })
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const written: number[] = []
  const read: number[] = []
  const log = await followLog(nc, { fromSeq: 1 })
  const reading = (async () => {
    for await (const { seq } of log) read.push(seq)
  })()
  const round = async (): Promise<void> => {
    // one whose response was lost may be there twice: what the log holds counts
    const seq = await eventually('the log takes a message', () =>
      publishReading(nc, written.length + 1).catch(() => undefined),
    )
    written.push(seq)
    await eventually('it is read', () => read.at(-1) === seq)
  }
  await round()
  for (const how of ['kill', 'sleep', 'kill'] as const) {
    if (how === 'kill') {
      await nats.kill()
      await nats.restart()
    } else {
      const sinceMs = performance.now()
      nats.freeze()
      await eventually('it is silent for longer than allowed', () => {
        return performance.now() - sinceMs > 6_500
      })
      nats.thaw()
    }
    await round()
    await round()
  }
  expect(read).toEqual(Array.from({ length: written.at(-1) ?? 0 }, (_, i) => i + 1))
  await log[Symbol.asyncDispose]()
  await reading
})
