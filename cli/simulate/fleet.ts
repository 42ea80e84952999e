/**
 * The simulated sensors as senders: each signs in as itself over a connection of its own, which
 * reconnects with jitter. In a city with more sensors than one program can hold connections for,
 * the simulator's own connection sends for the rest.
 */
import { AuthorizationError, type NatsConnection } from '@nats-io/transport-node'
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
  /** Signs in as the sensor, if it may: else it sends nothing. Absent: all is sent over `nc`. */
  readonly connectAs: ((id: string) => Promise<NatsConnection | undefined>) | undefined
}

type OwnSender = {
  readonly connection: NatsConnection
  readonly publisher: RawPublisher
  readonly leaving: AbortController
  /** Resolves when it is not let in: its credential has ended. A new one, when it is let in again. */
  refused: PromiseWithResolvers<void>
  isRefused: boolean
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
  let holding = 0
  /** All of them together hold something until none does. */
  const open = (connection: NatsConnection, stop = publishing.stop): RawPublisher => {
    let isHolding = false
    return openRawPublisher(connection, {
      ...publishing,
      stop,
      onHeld: (why) => {
        if (!isHolding) holding++
        isHolding = true
        publishing.onHeld?.(why)
      },
      onTaken: () => {
        isHolding = false
        if (--holding === 0) publishing.onTaken?.()
      },
    })
  }
  const all = opened.use(open(nc))
  const publishers = [all]
  const own = new Map<string, OwnSender>()
  const left = new Set<string>()
  if (connectAs !== undefined) {
    await inParallel(ids.slice(0, mostConnections), connectAtOnce, async (id) => {
      const connection = await connectAs(id)
      if (connection === undefined) {
        left.add(id)
        return
      }
      opened.defer(() => closed(connection))
      const leaving = new AbortController()
      const stop = AbortSignal.any([leaving.signal, ...(publishing.stop ? [publishing.stop] : [])])
      const publisher = opened.use(open(connection, stop))
      publishers.push(publisher)
      const refused = Promise.withResolvers<void>()
      const sender = { connection, publisher, leaving, refused, isRefused: false }
      own.set(id, sender)
      void followSignIn(sender)
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
      const sender = own.get(id)
      // what it measures meanwhile is lost, as by a device that keeps nothing; no other one waits for it
      if (left.has(id) || sender?.isRefused === true) return undefined
      const full = (sender?.publisher ?? all).publish(id, body)
      if (full === undefined) return undefined
      const waiting = unlessLeft(id, full)
      return sender === undefined ? waiting : Promise.race([waiting, sender.refused.promise])
    },
    drain: async () => {
      const drained = [...own]
        .filter(([, { isRefused }]) => !isRefused)
        .map(([id, { publisher }]) => unlessLeft(id, publisher.drain()))
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
      void closed(sender.connection)
    },
    acknowledged: () => publishers.reduce((sum, publisher) => sum + publisher.acknowledged(), 0),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** The server may end it at the same moment: what the client writes then fails. */
const closed = (connection: NatsConnection): Promise<void> =>
  connection.close().catch(() => undefined)

/** Ends with the connection. */
async function followSignIn(sender: OwnSender): Promise<void> {
  for await (const status of sender.connection.status()) {
    if (status.type === 'error' && status.error instanceof AuthorizationError) {
      sender.isRefused = true
      sender.refused.resolve()
    } else if (status.type === 'reconnect') {
      sender.isRefused = false
      sender.refused = Promise.withResolvers()
    }
  }
}
