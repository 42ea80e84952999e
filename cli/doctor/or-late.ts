/**
 * What the work resolves to, or undefined if it takes longer: a server that hangs must not hold up
 * the rest. The work itself goes on, and what it rejects with later is dropped.
 */
export async function orLate<T>(work: Promise<T>, withinMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), withinMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => undefined)
  }
}
