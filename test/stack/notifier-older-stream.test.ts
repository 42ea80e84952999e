/** The broker returns with an older copy of the streams that the notifier reads: a restored volume. */
import { expect, test } from 'vitest'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { eventsStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { publishEvent, putWebhook, rise, startNotifier } from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sensorOf = (n: number): string => `NGR-LOS-YAB-${String(n).padStart(3, '0')}`

test.concurrent.each([
  { how: 'lives', isStopped: false },
  { how: 'is stopped', isStopped: true },
])(
  'while the notifier $how EVENTS comes back older, and its new events are delivered',
  async ({ isStopped }) => {
    await using nats = await testNats({ syncAlways: true })
    using folder = temporaryFolder()
    await using receiver = await startReceiver()
    await using resources = new AsyncDisposableStack()
    const nc = await nats.connect()
    resources.defer(() => nc.close())
    await ensureStreams(nc)
    await putWebhook(nc, { url: receiver.url, events: ['aqi.high'] })
    const publish = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++)
        await eventually('NATS accepts an event', () =>
          publishEvent(nc, rise(100, 180, sensorOf(n))).catch(() => undefined),
        )
    }
    const arrived = (): readonly string[] => [
      ...new Set(receiver.received.map(({ json }) => String(json.data['sensor_id']))),
    ]
    const first = resources.use(await startNotifier(nats.url, folder.path))
    await publish(0, 2)
    await nats.keepStreams(eventsStream)
    await publish(2, 8)
    await eventually('all arrive', () => arrived().length === 8)
    if (isStopped) await first.child.stop()
    await nats.putStreamsBack(eventsStream)
    await publish(8, 11)
    if (isStopped) resources.use(await startNotifier(nats.url, folder.path))
    await eventually('the new ones arrive', () => arrived().length === 11)
    expect(arrived().toSorted()).toEqual(Array.from({ length: 11 }, (_, n) => sensorOf(n)))
  },
)
