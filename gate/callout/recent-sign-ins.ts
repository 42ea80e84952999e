/** When this gate let a connection in, for as long as the kicker may need to know. */
export type RecentSignIns = {
  readonly add: (connection: Named) => void
  /** On the clock of `performance.now()`; undefined: by another gate, or long ago. */
  readonly atMs: (connection: Named) => number | undefined
}

/** A server's number for a connection is its own. */
type Named = { readonly serverId: string; readonly cid: number }

const rememberedMs = 30_000
const most = 50_000

export function recentSignIns(): RecentSignIns {
  const at = new Map<string, number>()
  const nameOf = ({ serverId, cid }: Named): string => `${serverId} ${cid}`
  return {
    add: (connection) => {
      const nowMs = performance.now()
      at.set(nameOf(connection), nowMs)
      // oldest first
      for (const [name, sinceMs] of at) {
        if (at.size <= most && nowMs - sinceMs < rememberedMs) break
        at.delete(name)
      }
    },
    atMs: (connection) => at.get(nameOf(connection)),
  }
}
