/** Gathers the readings of each sensor into raw messages of up to `size`. */
export type Grouper = {
  readonly add: (id: string, body: string) => Promise<void> | undefined
  /** Sends the incomplete groups. */
  readonly flush: () => Promise<void>
}

/** @param size 1: one reading per message, as sensors send them */
export function groupItems(
  size: number,
  send: (id: string, body: string) => Promise<void> | undefined,
): Grouper {
  if (size === 1) return { add: send, flush: () => Promise.resolve() }
  const groups = new Map<string, string[]>()
  return {
    add(id, body) {
      const group = groups.get(id) ?? []
      group.push(body)
      if (group.length < size) {
        groups.set(id, group)
        return undefined
      }
      groups.delete(id)
      return send(id, `[${group.join(',')}]`)
    },
    async flush() {
      for (const [id, group] of groups) await send(id, `[${group.join(',')}]`)
      groups.clear()
    },
  }
}
