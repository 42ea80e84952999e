/**
 * Who works on what. Each share of the work, and each task of which only one may run, is a key of
 * bucket `leases` that vanishes 10 s after its last renewal. A process says that it is alive in the same
 * bucket, and holds at most its share. The lease spares work; what protects the data is the fence of
 * whoever writes.
 *
 *     free ──create──▶ held ──renew every 3 s──▶ held
 *                       ├── renewal refused ──▶ lost      (somebody else has it: stop at once)
 *                       └── more than our share ──▶ released ──▶ free
 */
import type { KV, KvEntry } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { alivePrefixes } from '../../schemas/system-keys.ts'
import { lastValues } from './last-values.ts'

export type LeaseEvents = {
  /** The task is ours from now on. */
  readonly onHeld: (name: string) => void
  /** Stop work on it; it is given free when the promise resolves. */
  readonly onRelease: (name: string) => Promise<void>
  /** Somebody else may hold it already: stop at once. After a share was lost, none is taken. */
  readonly onLost: (name: string) => void
}

export type LeaseOptions = LeaseEvents & {
  readonly nc: NatsConnection
  readonly kv: KV
  /** Stable over restarts: a restarted process takes its own leases back at once. */
  readonly holder: string
  /** Shared out evenly among the live processes. */
  readonly shared: readonly string[]
  /** Each held by whoever comes first. */
  readonly single: readonly string[]
  readonly onFailure: (error: unknown) => void
  /** Keeps apart the processes that share different work. */
  readonly aliveAs?: string
  /** What it says of itself while it lives; its holder by default. */
  readonly aliveSays?: string
}

export type Leases = {
  /** One round: say that we live, renew, give up what is too much, take what is free. */
  readonly round: () => Promise<void>
  readonly held: () => readonly string[]
  /** Gives everything free; work on it must have ended. */
  readonly releaseAll: () => Promise<void>
}

export const leaseRoundMs = 3_000

/**
 * Whether a task is somebody else's by now. Whoever slept since its lease came would build on what
 * the next owner wrote, and put him out: it asks before it writes the first time.
 */
export const takenBySomeoneElse =
  (kv: KV, holder: string) =>
  async (name: string): Promise<boolean> => {
    const entry = await kv.get(name)
    return entry?.operation === 'PUT' && entry.string() !== holder
  }

export function openLeases(options: LeaseOptions): Leases {
  const { nc, kv, holder, shared, single, onHeld, onRelease, onLost, onFailure } = options
  const { aliveAs: alivePrefix = alivePrefixes.pipeline, aliveSays = holder } = options
  const revisions = new Map<string, number>()
  // whoever lost a share was not there for a while: it starts anew, and until then takes nothing
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
      // the server did not answer: it may be ours still, and the fence holds if it is not
      if (entry === undefined) return onFailure(error)
      if (isOurs(entry)) {
        revisions.set(name, entry?.revision ?? revision)
        return
      }
      // vanished while the server or we were away, and nobody took it: go on
      if (isFree(entry)) return retake(name)
      revisions.delete(name)
      hasLostShare ||= shared.includes(name)
      onLost(name)
    }
  }

  /** A create that was not answered may have landed: whose it is, the next round will see. */
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
      // another process was quicker
      return
    }
    onHeld(name)
  }

  const release = async (name: string): Promise<void> => {
    await onRelease(name)
    const revision = revisions.get(name)
    revisions.delete(name)
    // only if it is still ours: another's lease must not be deleted
    if (revision !== undefined) await kv.delete(name, { previousSeq: revision })
  }

  let bucket: string | undefined
  const liveHolders = async (): Promise<number> => {
    bucket ??= (await kv.status()).bucket
    const { size } = await lastValues(nc, bucket, [`${alivePrefix}>`])
    return Math.max(1, size)
  }

  const heldOf = (names: readonly string[]): string[] => names.filter((name) => revisions.has(name))

  return {
    held: () => [...revisions.keys()],
    round: async () => {
      try {
        await kv.put(aliveKey, aliveSays)
        await Promise.all([...revisions].map(([name, revision]) => renew(name, revision)))
        if (hasLostShare) return
        const share = Math.ceil(shared.length / (await liveHolders()))
        const ours = heldOf(shared)
        await Promise.all(ours.slice(share).map(release))
        for (const name of shared) {
          if (heldOf(shared).length >= share) break
          if (!revisions.has(name)) await tryTake(name)
        }
        for (const name of single) if (!revisions.has(name)) await tryTake(name)
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
