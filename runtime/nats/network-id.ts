/**
 * The id of the network: KV `system`, key `network`. Cursors hold it, so that none is taken for one of
 * another network. A copy of the data folder has the same id.
 */
import { randomBytes } from 'node:crypto'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { isNetworkId } from '../../schemas/log/log-cursor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { MustAct } from '../exit.ts'

/** Once; two processes may do it at the same time, and the first one decides. */
export async function makeNetworkId(system: KV): Promise<void> {
  if ((await findNetworkId(system)) !== undefined) return
  const id = randomBytes(6).toString('hex')
  await system.create(systemKeys.network, id).catch(() => undefined)
}

/** undefined: the instance was made before there were ids. */
export async function findNetworkId(system: KV): Promise<string | undefined> {
  const entry = await system.get(systemKeys.network)
  return entry?.operation === 'PUT' ? entry.string() : undefined
}

/** Every process that has joined the instance finds one. @throws MustAct if the entry is damaged */
export async function readNetworkId(nc: NatsConnection): Promise<string> {
  const id = await findNetworkId(await new Kvm(nc).open(buckets.system))
  if (id !== undefined && isNetworkId(id)) return id
  throw new MustAct(
    'key `network` of KV `system` does not hold the id of the network: restore it from a backup',
  )
}
