import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Run the long form of tests (`npm run soak`). */
    soak: boolean
    /** Properties are drawn from a new seed (`npm run fuzz`, `npm run soak`). */
    drawsAnew: boolean
  }
}
