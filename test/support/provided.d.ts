import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The long form of a test is asked for (`npm run soak`). */
    soak: boolean
  }
}
