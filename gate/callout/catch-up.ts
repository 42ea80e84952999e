/**
 * Lets memory catch up with the server before a sensor is turned away: its credential may have
 * been made a moment ago. One look at a time for all that wait, so that guesses cost little.
 */
export function sharedCatchUp(
  barriers: readonly (() => Promise<void>)[],
  { withinMs = 1_000 }: { readonly withinMs?: number } = {},
): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const look = async (): Promise<void> => {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    // what cannot be known now is judged from what is known
    const all = Promise.all(barriers.map((barrier) => barrier())).catch(() => undefined)
    await Promise.race([all, late])
    clearTimeout(timer)
  }
  const start = (): Promise<void> => {
    running = look().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (running === undefined) return start()
    // a look that began before this call may have missed what it needs
    next ??= running.then(() => {
      next = undefined
      return start()
    })
    return next
  }
}
