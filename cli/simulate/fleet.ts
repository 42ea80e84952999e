/**
 * The simulated sensors as senders: each signs in as itself over a connection of its own, which
 * reconnects with jitter. In a city with more sensors than one program can hold connections for,
 * the simulator's own connection sends for the rest.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { inParallel } from '../../runtime/in-parallel.ts'
import {
  openRawPublisher,
  type RawPublisher,
  type RawPublisherOptions,
} from '../shell/raw-publisher.ts'

export type Fleet = AsyncDisposable &
  Pick<RawPublisher, 'publish' | 'drain' | 'acknowledged'> & {
    /** From now on nothing is sent for the sensor, and its unsent readings are not waited for. */
    readonly leave: (id: string) => void
  }

export type FleetOptions = RawPublisherOptions & {
  readonly ids: readonly string[]
  /** Signs in as the sensor; undefined: all is sent over `nc`. */
  readonly connectAs: ((id: string) => Promise<NatsConnection>) | undefined
}

type OwnSender = {
  readonly connection: NatsConnection
  readonly publisher: RawPublisher
  readonly leaving: AbortController
}

/** A connection costs this program about a tenth of a megabyte. */
export const mostConnections = 1_000
const connectAtOnce = 20

/** @param nc the simulator's own connection */
export async function openFleet(
  nc: NatsConnection,
  { ids, connectAs, ...publishing }: FleetOptions,
): Promise<Fleet> {
  await using opened = new AsyncDisposableStack()
  const all = opened.use(openRawPublisher(nc, publishing))
  const publishers = [all]
  const own = new Map<string, OwnSender>()
  const left = new Set<string>()
  if (connectAs !== undefined) {
    await inParallel(ids.slice(0, mostConnections), connectAtOnce, async (id) => {
      const connection = await connectAs(id)
      opened.defer(() => connection.close())
      const leaving = new AbortController()
      const stop = AbortSignal.any([leaving.signal, ...(publishing.stop ? [publishing.stop] : [])])
      const publisher = opened.use(openRawPublisher(connection, { ...publishing, stop }))
      publishers.push(publisher)
      own.set(id, { connection, publisher, leaving })
    })
  }
  const closing = opened.move()
  /** A sensor that has left ends what waits for it. */
  const unlessLeft = async (id: string, waiting: Promise<void>): Promise<void> => {
    try {
      await waiting
    } catch (error) {
      if (!left.has(id)) throw error
    }
  }
  return {
    publish: (id, body) => {
      if (left.has(id)) return undefined
      const full = (own.get(id)?.publisher ?? all).publish(id, body)
      return full && unlessLeft(id, full)
    },
    drain: async () => {
      const drained = [...own].map(([id, { publisher }]) => unlessLeft(id, publisher.drain()))
      await Promise.all([all.drain(), ...drained])
    },
    leave: (id) => {
      left.add(id)
      const sender = own.get(id)
      if (sender === undefined) return
      own.delete(id)
      sender.leaving.abort()
      // in this order: nothing may be sent on a closed connection
      void sender.publisher[Symbol.asyncDispose]()
      void sender.connection.close()
    },
    acknowledged: () => publishers.reduce((sum, publisher) => sum + publisher.acknowledged(), 0),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
