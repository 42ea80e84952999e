import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The long form of a test is asked for (`npm run soak`). */
    soak: boolean
    /** Properties are drawn from a new seed (`npm run fuzz`, `npm run soak`). */
    drawsAnew: boolean
  }
}
