import { dashboards } from './dashboards.ts'
import { metricsPage } from './metrics-page.ts'

/** Each file that `npm run observe` writes, with its text. */
export const madeHere = (): readonly (readonly [file: string, text: string])[] => [
  ['docs/metrics.md', metricsPage()],
  ...dashboards(),
]
