/**
 * Making an answer takes the event loop for some milliseconds, and requests of an account are
 * admitted together. Here one answer is started per turn of the loop, and the accounts (or
 * visitors' sites) take turns: however many requests one sends at once, another's waits only for
 * one of each before it, and the process's background work runs in between.
 */
export type LoopTurns = (share: string) => Promise<void>

export function loopTurns(): LoopTurns {
  /** The one whose turn is next comes first. */
  const lines = new Map<string, (() => void)[]>()
  let isTaken = false

  const next = (): void => {
    const [first] = lines
    isTaken = first !== undefined
    if (first === undefined) return
    const [share, line] = first
    // to the end of the round
    lines.delete(share)
    const begin = line.shift()
    if (line.length > 0) lines.set(share, line)
    setImmediate(next)
    begin?.()
  }

  return (share) => {
    if (!isTaken) {
      isTaken = true
      setImmediate(next)
      return Promise.resolve()
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const line = lines.get(share)
    if (line === undefined) lines.set(share, [resolve])
    else line.push(resolve)
    return promise
  }
}
