import fc from 'fast-check'
import { inject } from 'vitest'

/**
 * Properties use one fixed seed in `npm test`, so that a change is judged by what it changes and
 * not by chance. `npm run fuzz` and `npm run soak` use a new seed, and print that of what they find.
 */
if (!inject('drawsAnew')) fc.configureGlobal({ seed: 20_261_121 })
