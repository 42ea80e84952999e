type Options = {
  readonly withinMs?: number
  /** Between the first two looks; later ones are further apart. */
  readonly everyMs?: number
  /** The time counts from its last change. */
  readonly progress?: () => number
}

/**
 * The pause before the next look: an eighth of what was waited, so that a long wait takes few looks (they
 * cost the CPU time that is waited for, above all on a busy machine) and ends an eighth later at most.
 */
const pauseMs = (everyMs: number, waitedMs: number): number =>
  Math.max(everyMs, Math.min(waitedMs / 8, 250))

/**
 * Waits until `look` returns something other than undefined or false, and returns that.
 * @param what the condition in words, for the error if it is not true in time
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 120_000, everyMs = 20, progress = () => 0 }: Options = {},
): Promise<T> {
  let before = progress()
  const beganMs = performance.now()
  let sinceMs = beganMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    const now = progress()
    if (now !== before) sinceMs = performance.now()
    else if (performance.now() - sinceMs > withinMs)
      throw new Error(`not within ${withinMs} ms: ${what}`)
    before = now
    await new Promise((resolve) =>
      setTimeout(resolve, pauseMs(everyMs, performance.now() - beganMs)),
    )
  }
}
