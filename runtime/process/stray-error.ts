import { orTryAgain } from '../server-away.ts'

export type StrayErrors = Disposable & {
  /** Rejects with the first error that nobody handled; NATS not answering is one to try again. */
  readonly first: Promise<never>
}

/**
 * A promise that nobody waits for may fail while a server is away. Node would end the process as if
 * a person had to act; here it ends in order, and whoever keeps it alive knows what to do.
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
