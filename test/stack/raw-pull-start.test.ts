/** A server that answers late, as a busy one does, while a partition starts to pull. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { expect, test, vi } from 'vitest'
import type { RawMessage } from '../../pipeline/intake/raw-message.ts'
import { RawPull } from '../../pipeline/intake/raw-pull.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'

test('a start that takes longer than the watchdog waits makes one consumer, and is not called older', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await using _ = { [Symbol.asyncDispose]: () => nc.close() }
  await ensureStreams(nc)
  const manager = await jetstreamManager(nc)
  for (let i = 0; i < 3; i++) await jetstream(nc).publish('air.raw.3.NGR-LOS-IKJ-001', `${i}`)

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const late = Promise.withResolvers<undefined>()
    const info = vi.spyOn(manager.streams, 'info')
    const add = vi.spyOn(manager.consumers, 'add')
    const first = manager.streams.info.bind(manager.streams)
    info.mockImplementationOnce(async (stream) => {
      await late.promise
      return await first(stream)
    })
    const pulled: RawMessage[] = []
    const restarts: string[] = []
    await using pull = new RawPull({
      nc,
      manager,
      stream: rawStream(3),
      fromSeq: 1,
      onRaw: (raw) => pulled.push(raw),
      held: { count: 0, bytes: 0 },
      nowMs: () => 0,
      onRestart: (why) => restarts.push(why),
      wake: () => undefined,
    })
    const opened = pull.open()
    vi.advanceTimersByTime(60_000)
    late.resolve(undefined)
    await opened
    await eventually('all messages are pulled', () => pulled.length === 3)
    expect([restarts, add.mock.calls.length, pull.isOlder]).toEqual([[], 1, false])
  } finally {
    vi.useRealTimers()
  }
})
