/**
 * Finds sensors that flood NATS or MQTT, from the servers' counts of each connection:
 * page by page through all connections, with pauses, so that looking stays a small share of a
 * server's work (5,000 connections are looked at in about 2 s, 100,000 in a minute or two). What a
 * connection sent after the last look is known when it ends, and a sign-in counts as a message: a
 * sensor that reconnects all the time is counted like one that stays. The sensor's connections are
 * closed and it is not let in for a pause; what was acknowledged stays
 * stored. A sensor that holds too many connections loses the oldest, and one whose secret has ended
 * since it signed in loses those: the servers ask the gate only at sign-in.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { messagesIn } from '../../core/access/flood.ts'
import { type Connection, type Connections, type Ended, pageSize } from './connections.ts'
import type { FloodLedger } from './flood-ledger.ts'

type Options = {
  readonly connections: Pick<Connections, 'page' | 'close'>
  readonly isSensor: (user: string) => boolean
  readonly ledger: FloodLedger
  /** Calls back with what ends, from now on. */
  readonly onEnd: (listener: (ended: Ended) => void) => Disposable
  /** The secret that it signed in with is no longer valid. */
  readonly hasOutlived: (connection: Connection) => boolean
  readonly onOutlived: (connection: Connection) => void
  readonly onTooMany: (connection: Connection) => void
  readonly onFailure: (error: unknown) => void
  readonly stop: AbortSignal
  /** From the end of one look to the next. */
  readonly everyMs?: number
}

/** A device whose line comes and goes leaves dead connections until the server's pings notice. */
const mostConnections = 8
const leastPauseMs = 250
/** The pause after a page, as a multiple of the time that the page took. */
const pauseFactor = 10

/** Looks until stopped. */
export async function watchFloods(options: Options): Promise<void> {
  const { stop, onFailure, everyMs = 1_000 } = options
  const { sweep, count } = floodSweep(options)
  using _ends = options.onEnd((ended) => {
    if (options.isSensor(ended.user)) count(ended)
  })
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stop }).catch(() => undefined)
  while (!stop.aborted) {
    try {
      await sweep(pause)
    } catch (error) {
      if (!stop.aborted) onFailure(error)
    }
    await pause(everyMs)
  }
}

type Counted = { readonly messages: number; readonly bytes: number; readonly sweep: number }

type Sweep = {
  /** One look at all connections; the next one builds on its counts. */
  readonly sweep: (pause: (ms: number) => Promise<void>) => Promise<void>
  /** Charges the sensor with what arrived on a connection since it was counted last. */
  readonly count: (seen: Omit<Ended, 'reason'>) => void
}

/** What a sign-in costs, in messages. */
const signInCost = 1

function floodSweep(options: Options): Sweep {
  const { connections, isSensor, ledger, hasOutlived, stop } = options
  const counted = new Map<string, Counted>()
  const startedMs = performance.now()
  let sweep = 0

  const count: Sweep['count'] = ({ serverId, cid, user, messages, bytes, ageMs }) => {
    const key = `${serverId} ${cid}`
    const before = counted.get(key)
    // an ended connection stays here for this look, which may have listed it before
    counted.set(key, { messages, bytes, sweep })
    if (before !== undefined) {
      const more = messagesIn(messages - before.messages, bytes - before.bytes)
      return ledger.charge(user, Math.max(0, more))
    }
    // what arrived before we watched may be of days
    if (ageMs > performance.now() - startedMs) return
    ledger.charge(user, messagesIn(messages, bytes) + signInCost)
  }
  const close = async (
    surplus: readonly Connection[],
    report: (connection: Connection) => void,
  ): Promise<void> => {
    for (const connection of surplus) {
      await connections.close(connection)
      report(connection)
    }
  }
  const look: Sweep['sweep'] = async (pause) => {
    sweep += 1
    const open = new Map<string, Connection[]>()
    for (let offset = 0; !stop.aborted; offset += pageSize) {
      const startMs = performance.now()
      const page = await connections.page(offset)
      const ours = page.filter(({ user }) => isSensor(user))
      for (const connection of ours) {
        count(connection)
        const { user } = connection
        open.set(user, [...(open.get(user) ?? []), connection])
      }
      await close(ours.filter(hasOutlived), options.onOutlived)
      if (page.length < pageSize) break
      await pause(Math.max(leastPauseMs, pauseFactor * (performance.now() - startMs)))
    }
    for (const all of open.values()) await close(oldestBeyond(all), options.onTooMany)
    for (const [key, { sweep: last }] of counted) if (last !== sweep) counted.delete(key)
    ledger.forgetCalm((user) => open.has(user))
  }
  return { sweep: look, count }
}

const oldestBeyond = (all: readonly Connection[]): readonly Connection[] =>
  all.length <= mostConnections
    ? []
    : all.toSorted((a, b) => (a.since < b.since ? -1 : 1)).slice(0, all.length - mostConnections)
