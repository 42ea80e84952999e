/** A child of `bench/verify-api.ts` and `bench/fair.ts`: the API process. */
import { run } from '../api/main.ts'
import { runAsChild } from './process-child.ts'

await runAsChild('api', 'AIRPROOF_API_PORT', run)
