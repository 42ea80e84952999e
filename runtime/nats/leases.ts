/**
 * Distributes work. Each share of the work, and each task that only one process may run, is a key of
 * bucket `leases` that expires 10 s after its last renewal. A process reports in the same bucket that
 * it is alive, and holds at most its share. A lease avoids duplicate work; the data are protected by
 * the writer's fence.
 *
 *     free ──create──▶ held ──renew every 3 s──▶ held
 *                       ├── renewal refused ──▶ lost      (another process holds it: stop at once)
 *                       └── more than our share ──▶ released ──▶ free
 */
import type { KV, KvEntry } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { alivePrefixes } from '../../schemas/system-keys.ts'
import { lastValues } from './buckets/last-values.ts'

export type LeaseEvents = {
  /** This process holds the lease from now on. */
  readonly onHeld: (name: string) => void
  /** Stop work on it; the lease is released when the promise resolves. */
  readonly onRelease: (name: string) => Promise<void>
  /** Another process may already hold it: stop at once. After a share was lost, none is taken. */
  readonly onLost: (name: string) => void
}

export type LeaseOptions = LeaseEvents & {
  readonly nc: NatsConnection
  readonly kv: KV
  /** Stable over restarts: a restarted process takes its own leases back at once. */
  readonly holder: string
  /** Distributed evenly among the live processes. */
  readonly shared: readonly string[]
  /** Each held by the first process to take it. */
  readonly single: readonly string[]
  readonly onFailure: (error: unknown) => void
  /** The prefix of the keys of live processes that share the same work. */
  readonly aliveAs?: string
  /** The value of this process's key; its holder by default. */
  readonly aliveValue?: string
}

export type Leases = {
  /** One round: report that we are alive, renew, release what exceeds our share, take what is free. */
  readonly round: () => Promise<void>
  readonly held: () => readonly string[]
  /** Releases everything; work on it must have ended. */
  readonly releaseAll: () => Promise<void>
}

export const leaseRoundMs = 3_000

/**
 * Whether another process holds a task now. A process that was suspended since it got its lease
 * would build on the next owner's writes and fence it out, so it checks before its first write.
 */
export const heldByAnother =
  (kv: KV, holder: string) =>
  async (name: string): Promise<boolean> => {
    const entry = await kv.get(name)
    return entry?.operation === 'PUT' && entry.string() !== holder
  }

export function openLeases(options: LeaseOptions): Leases {
  const { nc, kv, holder, shared, single, onHeld, onRelease, onLost, onFailure } = options
  const { aliveAs: alivePrefix = alivePrefixes.pipeline, aliveValue = holder } = options
  const revisions = new Map<string, number>()
  // a process that lost a share was suspended for a while: it restarts, and takes nothing until then
  let hasLostShare = false
  const aliveKey = `${alivePrefix}${holder}`

  const isFree = (entry: KvEntry | null): entry is null =>
    entry === null || entry.operation !== 'PUT'
  const isOurs = (entry: KvEntry | null): boolean =>
    entry !== null && entry.operation === 'PUT' && entry.string() === holder

  const renew = async (name: string, revision: number): Promise<void> => {
    try {
      revisions.set(name, await kv.update(name, holder, revision))
    } catch (error) {
      const entry = await kv.get(name).catch(() => undefined)
      // the server did not respond: the lease may still be ours, and the fence holds if it is not
      if (entry === undefined) return onFailure(error)
      if (isOurs(entry)) {
        revisions.set(name, entry?.revision ?? revision)
        return
      }
      // it expired while the server or we were unavailable, and no process took it: continue
      if (isFree(entry)) return retake(name)
      revisions.delete(name)
      hasLostShare ||= shared.includes(name)
      onLost(name)
    }
  }

  /** A create without a response may have succeeded: the next round finds out. */
  const retake = async (name: string): Promise<void> => {
    try {
      revisions.set(name, await kv.create(name, holder))
    } catch (error) {
      onFailure(error)
    }
  }

  const tryTake = async (name: string): Promise<void> => {
    const entry = await kv.get(name)
    if (!isFree(entry) && !isOurs(entry)) return
    try {
      const revision = isFree(entry)
        ? await kv.create(name, holder)
        : await kv.update(name, holder, entry.revision)
      revisions.set(name, revision)
    } catch {
      // another process was first
      return
    }
    onHeld(name)
  }

  const release = async (name: string): Promise<void> => {
    await onRelease(name)
    const revision = revisions.get(name)
    revisions.delete(name)
    // only if it is still ours: another process's lease must not be deleted
    if (revision !== undefined) await kv.delete(name, { previousSeq: revision })
  }

  let bucket: string | undefined
  const liveHolders = async (): Promise<number> => {
    bucket ??= (await kv.status()).bucket
    const { size } = await lastValues(nc, bucket, [`${alivePrefix}>`])
    return Math.max(1, size)
  }

  const heldAmong = (names: readonly string[]): string[] =>
    names.filter((name) => revisions.has(name))

  return {
    held: () => [...revisions.keys()],
    round: async () => {
      try {
        await kv.put(aliveKey, aliveValue)
        await Promise.all([...revisions].map(([name, revision]) => renew(name, revision)))
        if (hasLostShare) return
        const share = Math.ceil(shared.length / (await liveHolders()))
        const ours = heldAmong(shared)
        await Promise.all(ours.slice(share).map(release))
        // before the shares: what they bring keeps the connection busy
        for (const name of single) if (!revisions.has(name)) await tryTake(name)
        for (const name of shared) {
          if (heldAmong(shared).length >= share) break
          if (!revisions.has(name)) await tryTake(name)
        }
      } catch (error) {
        onFailure(error)
      }
    },
    releaseAll: async () => {
      await Promise.allSettled([...revisions.keys()].map(release))
      await kv.delete(aliveKey).catch(onFailure)
    },
  }
}
