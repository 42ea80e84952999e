import type { NatsConnection } from '@nats-io/transport-node'
import type { OpenConnection } from '../../schemas/devices/open-connection.ts'
import { connectionsSubject } from '../../schemas/subjects.ts'
import type { Connection, Connections } from './connections.ts'

/** Answers which connections a sensor has open: only the gate sees the servers' lists. */
export function answerConnections(
  nc: NatsConnection,
  connections: Pick<Connections, 'of'>,
): Disposable {
  const subscription = nc.subscribe(connectionsSubject('*'), {
    queue: 'gate',
    callback: (error, message) => {
      if (error) return
      const id = message.subject.slice(connectionsSubject('').length)
      void Array.fromAsync(connections.of(id), openConnectionOf)
        .then((open) => message.respond(JSON.stringify(open)))
        // no answer: the caller's request times out
        .catch(() => undefined)
    },
  })
  return {
    [Symbol.dispose]: () => {
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}

const openConnectionOf = ({
  protocol,
  address,
  client,
  since,
  lastActivity,
  messages,
}: Connection): OpenConnection => ({ protocol, address, client, since, lastActivity, messages })
