/**
 * One run of `work` for all callers while the previous run is under way, or began less than
 * `everyMs` ago. A caller gets the result of a run that begins after its call.
 */
export function inCommon<T>(work: () => Promise<T>, everyMs: number): () => Promise<T> {
  let next: Promise<T> | undefined
  let last: Promise<unknown> = Promise.resolve()
  const begin = async (): Promise<T> => {
    await last.catch(() => undefined)
    next = undefined
    const run = work()
    last = Promise.allSettled([run, after(everyMs)])
    return await run
  }
  return () => (next ??= begin())
}

const after = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref())
