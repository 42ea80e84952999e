import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { buckets } from '../../../schemas/subjects.ts'

/** How many partitions each process holds, by its instance id. */
export async function partitionsHeld(nc: NatsConnection): Promise<ReadonlyMap<string, number>> {
  const leases = await new Kvm(nc).open(buckets.leases)
  const keys = await Array.fromAsync(await leases.keys('partition.>'))
  const held = new Map<string, number>()
  for (const key of keys) {
    const holder = (await leases.get(key))?.string()
    if (holder !== undefined) held.set(holder, (held.get(holder) ?? 0) + 1)
  }
  return held
}
