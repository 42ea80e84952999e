/** The built pages of an API in a headless Chromium, for the benchmarks that look at them. */
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { TestApi } from '../test/support/api.ts'
import { openChromium } from '../test/support/chromium.ts'
import { buildPages } from '../test/support/city-browser.ts'
import { type TestDashboard, testDashboard } from '../test/support/dashboard.ts'
import { eventually } from '../test/support/eventually.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'

/** Resolves when the dashboard reaches the API. @param opened closes everything that is opened here */
export async function openPages(
  api: TestApi,
  opened: AsyncDisposableStack,
): Promise<{ readonly dashboard: TestDashboard; readonly browser: Browser }> {
  const pages = join(opened.use(temporaryFolder()).path, 'pages')
  await buildPages(pages)
  const dashboard = opened.use(
    await testDashboard({
      nats: api.nats,
      env: { AIRPROOF_API_URL: api.url, AIRPROOF_DASHBOARD_PAGES: pages },
    }),
  )
  await eventually('the dashboard reaches the API', async () => {
    const answer = await fetch(`${dashboard.url}/data/v1/sensors?limit=1`)
    return answer.status === 200
  })
  const browser = await openChromium()
  opened.defer(() => browser.close())
  return { dashboard, browser }
}
