/**
 * Disconnects sensors: a revoked credential, a changed device or a flood ends connections that are
 * open already. The servers ask the gate only at sign-in, so their connections are looked up and
 * closed; a sign-in that was under way meanwhile is caught by a second look.
 */

import { pause } from '../../runtime/pause.ts'
import type { Connection, Connections } from './connections.ts'

export type Kicker = AsyncDisposable & {
  /** Closes the sensor's connections of until now; resolves after the first look. */
  readonly kick: (id: string, why: string) => Promise<void>
}

type Options = {
  readonly connections: Pick<Connections, 'of' | 'close'>
  /** When this gate let it in, where it knows. */
  readonly signedInAtMs: (connection: Connection) => number | undefined
  readonly onKicked: (connection: Connection, why: string) => void
  readonly onFailure: (error: unknown) => void
}

const secondLookMs = 1_000
/** A look goes through all connections of a server: 6 ms for each 5,000. */
const mostAtOnce = 4

export function openKicker({ connections, signedInAtMs, onKicked, onFailure }: Options): Kicker {
  const ending = new AbortController()
  const under = new Set<Promise<void>>()
  const queue: (() => void)[] = []
  let running = 0

  const turn = async (): Promise<void> => {
    if (running >= mostAtOnce) await new Promise<void>((resolve) => queue.push(resolve))
    else running += 1
  }
  const done = (): void => {
    const next = queue.shift()
    if (next) next()
    else running -= 1
  }
  const look = async (id: string, why: string, untilMs: number): Promise<void> => {
    await turn()
    try {
      for await (const connection of connections.of(id)) {
        // a later sign-in was judged by what holds now
        const sinceMs = signedInAtMs(connection) ?? performance.now() - connection.ageMs
        if (sinceMs >= untilMs) continue
        await connections.close(connection)
        onKicked(connection, why)
      }
    } catch (error) {
      onFailure(error)
    } finally {
      done()
    }
  }
  const lookAgain = async (id: string, why: string, untilMs: number): Promise<void> => {
    await pause(secondLookMs, ending.signal)
    if (!ending.signal.aborted) await look(id, why, untilMs)
  }
  return {
    kick: async (id, why) => {
      const untilMs = performance.now()
      await look(id, why, untilMs)
      const again = lookAgain(id, why, untilMs)
      under.add(again)
      void again.finally(() => under.delete(again))
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await Promise.all(under)
    },
  }
}
