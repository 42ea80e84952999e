/**
 * The simulated sensors as senders: each signs in as itself over a connection of its own, which
 * comes back with jitter. Of a city with more sensors than one program can hold connections for,
 * the rest is sent by whoever simulates it.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { inParallel } from '../../runtime/in-parallel.ts'
import {
  openRawPublisher,
  type RawPublisher,
  type RawPublisherOptions,
} from '../shell/raw-publisher.ts'

export type Fleet = AsyncDisposable & Pick<RawPublisher, 'publish' | 'drain' | 'acknowledged'>

export type FleetOptions = RawPublisherOptions & {
  readonly ids: readonly string[]
  /** Signs in as the sensor; undefined: all is sent over `nc`. */
  readonly connectAs: ((id: string) => Promise<NatsConnection>) | undefined
}

/** A connection costs this program about a tenth of a megabyte. */
export const mostConnections = 1_000
const connectAtOnce = 20

/** @param nc of whoever simulates */
export async function openFleet(
  nc: NatsConnection,
  { ids, connectAs, ...publishing }: FleetOptions,
): Promise<Fleet> {
  await using opened = new AsyncDisposableStack()
  const all = opened.use(openRawPublisher(nc, publishing))
  const own = new Map<string, RawPublisher>()
  if (connectAs !== undefined) {
    await inParallel(ids.slice(0, mostConnections), connectAtOnce, async (id) => {
      const connection = await connectAs(id)
      opened.defer(() => connection.close())
      own.set(id, opened.use(openRawPublisher(connection, publishing)))
    })
  }
  const closing = opened.move()
  const publishers = [all, ...own.values()]
  return {
    publish: (id, body) => (own.get(id) ?? all).publish(id, body),
    drain: async () => void (await Promise.all(publishers.map((one) => one.drain()))),
    acknowledged: () => publishers.reduce((sum, one) => sum + one.acknowledged(), 0),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
