import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorAccess } from '../operate/sensor-access.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { parseSeen } from '../schemas/devices/seen.ts'
import { accessSubject, buckets } from '../schemas/subjects.ts'
import type { CredentialBook } from './credential-book.ts'

/**
 * Answers the key state and the last contacts of a sensor: a process that shows them need not read
 * the buckets, which have hashes of secrets.
 */
export async function answerAccess(
  nc: NatsConnection,
  book: Pick<CredentialBook, 'stateOf'>,
): Promise<Disposable> {
  const kv = await new Kvm(nc).open(buckets.seen)
  const accessOf = async (id: string): Promise<SensorAccess> => ({
    ...book.stateOf(id),
    seen: parseSeen(await readEntry(kv, id)) ?? {},
  })
  const subscription = nc.subscribe(accessSubject('*'), {
    queue: 'gate',
    callback: (error, message) => {
      if (error) return
      void accessOf(message.subject.slice(accessSubject('').length))
        .then((access) => message.respond(JSON.stringify(access)))
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
