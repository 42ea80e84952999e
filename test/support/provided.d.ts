import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Run the long form of tests (`npm run soak`). */
    soak: boolean
    /** Properties are drawn from a new seed (`npm run fuzz`, `npm run soak`). */
    drawsAnew: boolean
    /** A folder for what needs a disk; others are in memory. */
    disk: string
    /** A folder for what is made once in a run, and then shared; deleted after it. */
    ofRun: string
  }
}
