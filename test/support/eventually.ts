type Options = {
  readonly withinMs?: number
  readonly everyMs?: number
  /** The time counts from its last change. */
  readonly progress?: () => number
}

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
  let sinceMs = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    const now = progress()
    if (now !== before) sinceMs = performance.now()
    else if (performance.now() - sinceMs > withinMs)
      throw new Error(`not within ${withinMs} ms: ${what}`)
    before = now
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
