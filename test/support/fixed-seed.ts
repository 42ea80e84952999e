import fc from 'fast-check'
import { inject } from 'vitest'

/**
 * Properties are drawn from one seed in `npm test`, so that a change is judged by what it changes and
 * not by the draw. `npm run fuzz` and `npm run soak` draw anew, and print the seed of what they find.
 */
if (!inject('drawsAnew')) fc.configureGlobal({ seed: 20_261_121 })
