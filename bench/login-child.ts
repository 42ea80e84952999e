/** A child of `bench/login.ts`: the dashboard process. */
import { run } from '../dashboard/main.ts'
import { runAsChild } from './process-child.ts'

await runAsChild('dashboard', 'AIRPROOF_DASHBOARD_PORT', run)
