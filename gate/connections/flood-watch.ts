/**
 * Finds sensors that flood NATS or MQTT, from the counts that the servers keep of each connection:
 * page by page through all connections, with pauses, so that looking stays a small share of a
 * server's work (5,000 connections are looked at in about 2 s, 100,000 in a minute or two). The
 * sensor's connections are closed and it is not let in for a pause; what was acknowledged stays
 * stored. A sensor that holds too many connections loses the oldest.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Allowance, defaultFloodBounds, type FloodBounds, spend } from '../../core/flood.ts'
import { type Connection, type Connections, pageSize } from './connections.ts'

type Options = {
  readonly connections: Pick<Connections, 'page' | 'close'>
  /** Undefined: it is none of our sensors and may send what it likes. */
  readonly boundsOf: (user: string) => FloodBounds | 'default' | undefined
  readonly onFlood: (id: string) => void
  readonly onTooMany: (connection: Connection) => void
  readonly onFailure: (error: unknown) => void
  readonly nowMs: () => number
  readonly stop: AbortSignal
  /** From the end of one look to the next. */
  readonly everyMs?: number
}

/** A device whose line comes and goes leaves dead ones behind, until the server's pings find out. */
const mostConnections = 8
const leastPauseMs = 250
/** The pause after a page, as a multiple of the time that the page took. */
const pauseFactor = 10

/** Looks until stopped. */
export async function watchFloods(options: Options): Promise<void> {
  const { stop, onFailure, everyMs = 5_000 } = options
  const sweep = floodSweep(options)
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

type Counted = { readonly messages: number; readonly sweep: number }

/** One look at all connections; what it learns is kept for the next one. */
function floodSweep(options: Options): (pause: (ms: number) => Promise<void>) => Promise<void> {
  const { connections, boundsOf, onFlood, onTooMany, nowMs, stop } = options
  const counted = new Map<string, Counted>()
  const allowances = new Map<string, Allowance>()
  let sweep = 0

  const count = (connection: Connection): void => {
    const { serverId, cid, user, messages } = connection
    const named = boundsOf(user)
    if (named === undefined) return
    const bounds = named === 'default' ? defaultFloodBounds : named
    const key = `${serverId} ${cid}`
    const before = counted.get(key)?.messages ?? 0
    counted.set(key, { messages, sweep })
    const allowance = spend(allowances.get(user), Math.max(0, messages - before), nowMs(), bounds)
    // it pays with the pause, and starts from nothing after it
    allowances.set(user, allowance.left < 0 ? { left: 0, atMs: nowMs() } : allowance)
    if (allowance.left < 0) onFlood(user)
  }
  return async (pause) => {
    sweep += 1
    const open = new Map<string, Connection[]>()
    for (let offset = 0; !stop.aborted; offset += pageSize) {
      const startMs = performance.now()
      const page = await connections.page(offset)
      for (const connection of page) {
        count(connection)
        if (boundsOf(connection.user) !== undefined)
          open.set(connection.user, [...(open.get(connection.user) ?? []), connection])
      }
      if (page.length < pageSize) break
      await pause(Math.max(leastPauseMs, pauseFactor * (performance.now() - startMs)))
    }
    for (const all of open.values())
      for (const surplus of oldestBeyond(all)) {
        await connections.close(surplus)
        onTooMany(surplus)
      }
    for (const [key, { sweep: last }] of counted) if (last !== sweep) counted.delete(key)
    forgetCalm(allowances, open, { boundsOf, nowMs: nowMs() })
  }
}

const oldestBeyond = (all: readonly Connection[]): readonly Connection[] =>
  all.length <= mostConnections
    ? []
    : all.toSorted((a, b) => (a.since < b.since ? -1 : 1)).slice(0, all.length - mostConnections)

/** A sensor that is away and has its whole burst again is like one never seen. */
function forgetCalm(
  allowances: Map<string, Allowance>,
  open: ReadonlyMap<string, unknown>,
  { boundsOf, nowMs }: Pick<Options, 'boundsOf'> & { readonly nowMs: number },
): void {
  for (const [user, allowance] of allowances) {
    if (open.has(user)) continue
    const named = boundsOf(user) ?? 'default'
    const bounds = named === 'default' ? defaultFloodBounds : named
    if (spend(allowance, 0, nowMs, bounds).left >= bounds.burst) allowances.delete(user)
  }
}
