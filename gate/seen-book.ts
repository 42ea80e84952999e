/**
 * Notes each sensor's last contact in bucket `seen`: gathered in memory, written a little later,
 * at most 500 entries per second, so that a storm of sign-ins does not become one of writes. Two
 * gates may note the same sensor: counts are added by CAS.
 */

import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { BoundedMap } from '../core/bounded-map.ts'
import { formatIso } from '../core/iso-time.ts'
import { jsonOf } from '../runtime/nats/buckets/read-entry.ts'
import { putUnlessChanged } from '../runtime/nats/cas.ts'
import { parseSeen, type Seen } from '../schemas/devices/seen.ts'
import { buckets } from '../schemas/subjects.ts'

export type Contact = {
  readonly protocol: NonNullable<Seen['heard']>['protocol']
  readonly address: string
  /** Library or firmware and version. */
  readonly client?: string | undefined
}

export type SeenBook = AsyncDisposable & {
  /** It signed in, or pushed: an entry without other news is written once a minute at most. */
  readonly contacted: (id: string, contact: Contact) => void
  readonly left: (id: string, reason: string) => void
  /** A sign-in of a known sensor was refused. */
  readonly refused: (id: string, reason: string) => void
  /** `count` publishes or subscriptions were denied. */
  readonly denied: (id: string, count: number) => void
  readonly paused: (id: string, untilMs: number) => void
}

type Options = {
  readonly nowMs?: () => number
  readonly onFailure: (error: unknown) => void
}

const roundMs = 1_000
const mostWritesPerRound = 500
const atOnce = 50
const heardEveryMs = 60_000
/** Beyond it a contact is not noted, but the sensor's next one: as many as are written in a minute. */
const mostContacts = 30_000
/** With the other notes. */
const mostPending = 200_000
/** Sensors whose last note is remembered; one that is forgotten is noted again within the minute. */
const mostRemembered = 200_000

export async function openSeenBook(
  nc: NatsConnection,
  { nowMs = Date.now, onFailure }: Options,
): Promise<SeenBook> {
  const kv = await new Kvm(nc).open(buckets.seen)
  const pending = new Map<string, Seen>()
  const heardAtMs = new BoundedMap<string, number>(mostRemembered)
  let writing: Promise<void> = Promise.resolve()

  const note = (id: string, what: (at: string) => Seen): void => {
    if (pending.size >= mostPending && !pending.has(id)) return
    pending.set(id, merged(pending.get(id) ?? {}, what(formatIso(nowMs()))))
  }
  const failed = (error: unknown): false => {
    onFailure(error)
    return false
  }
  const write = async (): Promise<void> => {
    const round = [...pending.entries().take(mostWritesPerRound)]
    for (let from = 0; from < round.length; from += atOnce) {
      await Promise.all(
        round.slice(from, from + atOnce).map(async ([id, what]) => {
          // what is noted meanwhile belongs to the next round
          pending.delete(id)
          const isWritten = await add(kv, id, what).catch(failed)
          if (!isWritten) pending.set(id, merged(what, pending.get(id) ?? {}))
        }),
      )
    }
  }
  const round = (): void => {
    writing = writing.then(write).catch(onFailure)
  }
  const timer = setInterval(round, roundMs)
  return {
    contacted: (id, contact) => {
      const now = nowMs()
      const isPending = pending.has(id)
      if (!isPending && now - (heardAtMs.get(id) ?? 0) < heardEveryMs) return
      if (!isPending && pending.size >= mostContacts) return
      heardAtMs.set(id, now)
      const { client, ...rest } = contact
      note(id, (at) => ({ heard: { at, ...rest, ...(client === undefined ? {} : { client }) } }))
    },
    left: (id, reason) => {
      heardAtMs.delete(id)
      note(id, (at) => ({ left: { at, reason } }))
    },
    refused: (id, reason) => note(id, (at) => ({ refused: { at, reason, count: 1 } })),
    denied: (id, count) => note(id, (at) => ({ denied: { at, count } })),
    paused: (id, untilMs) => note(id, () => ({ paused_until: formatIso(untilMs) })),
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      round()
      await writing
    },
  }
}

/** The later value wins; counts are added. */
const merged = (was: Seen, now: Seen): Seen => ({
  ...was,
  ...now,
  ...(now.refused && {
    refused: { ...now.refused, count: now.refused.count + (was.refused?.count ?? 0) },
  }),
  ...(now.denied && {
    denied: { ...now.denied, count: now.denied.count + (was.denied?.count ?? 0) },
  }),
})

/** @returns false if another gate was faster: the next round adds it to what that gate wrote */
async function add(kv: KV, id: string, what: Seen): Promise<boolean> {
  const read = await kv.get(id)
  const was = parseSeen(jsonOf(read)) ?? {}
  return (await putUnlessChanged(kv, id, merged(was, what), read)) !== 'overtaken'
}
