import { orTryAgain } from '../server-away.ts'

export type StrayErrors = Disposable & {
  /** Rejects with the first unhandled error; if NATS did not respond, it is a `TryAgain`. */
  readonly first: Promise<never>
}

/**
 * A promise that is not awaited may fail while a server is unavailable. Node would end the process
 * as if a person had to act; here it ends in order, with the exit code that its supervisor needs.
 */
export function watchStrayErrors(): StrayErrors {
  const { promise: first, reject } = Promise.withResolvers<never>()
  first.catch(() => undefined)
  const onStray = (error: unknown): void => {
    reject(orTryAgain(error))
  }
  process.on('unhandledRejection', onStray)
  return {
    first,
    [Symbol.dispose]: () => void process.off('unhandledRejection', onStray),
  }
}
