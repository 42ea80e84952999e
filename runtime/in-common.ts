/**
 * One run of `work` for all who ask while the one before is under way, or is not `everyMs` old yet.
 * Who asks is answered by a run that begins after it asked.
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
