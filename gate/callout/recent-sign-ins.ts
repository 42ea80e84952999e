/** When this gate let a connection in, for as long as that may matter to whoever closes some. */
export type RecentSignIns = {
  readonly add: (connection: Named) => void
  /** On the clock of `performance.now()`; undefined: not by us, or long ago. */
  readonly atMs: (connection: Named) => number | undefined
}

/** A server's number for a connection is its own. */
type Named = { readonly serverId: string; readonly cid: number }

const keptMs = 30_000
const mostKept = 50_000

export function recentSignIns(): RecentSignIns {
  const at = new Map<string, number>()
  const nameOf = ({ serverId, cid }: Named): string => `${serverId} ${cid}`
  return {
    add: (connection) => {
      const nowMs = performance.now()
      at.set(nameOf(connection), nowMs)
      // oldest first
      for (const [name, sinceMs] of at) {
        if (at.size <= mostKept && nowMs - sinceMs < keptMs) break
        at.delete(name)
      }
    },
    atMs: (connection) => at.get(nameOf(connection)),
  }
}
