import type { ComponentType } from 'preact'
import { loadAccountTexts } from './account-texts.ts'
import { matchPath } from './match-path.ts'
import type { PageProps } from './page.ts'
import type { Match } from './router.ts'
import { texts } from './texts.ts'

const { tabs, settingsTabs, titles } = texts.common

type Page = ComponentType<PageProps>

export type Route = {
  readonly path: string
  readonly title: string
  /** A page's code is loaded when it is first visited. */
  readonly load: () => Promise<Page>
  /** What the page needs: others see a request to sign in, or that it is not for them. */
  readonly needs: 'none' | 'session' | 'operator'
}

/** Their texts are not among those of the public pages. */
const afterTexts =
  (load: Route['load']): Route['load'] =>
  async () => {
    await loadAccountTexts()
    return load()
  }

const routes: readonly Route[] = [
  {
    path: '/',
    title: tabs.city,
    needs: 'none',
    load: async () => {
      // beside the page, which is there before it
      void import('./map/city-map.ts').catch(() => undefined)
      return (await import('./pages/city/city-page.tsx')).CityPage
    },
  },
  {
    path: '/areas/:slug',
    title: texts.city.area,
    needs: 'none',
    load: async () => (await import('./pages/city/area-page.tsx')).AreaPage,
  },
  {
    path: '/sensors/:id',
    title: titles.sensor,
    needs: 'none',
    load: async () => (await import('./pages/sensor/sensor-page.tsx')).SensorPage,
  },
  {
    path: '/proof',
    title: tabs.proof,
    needs: 'none',
    load: async () => (await import('./pages/proof/proof-page.tsx')).ProofPage,
  },
  {
    path: '/proof/:id/:timestamp',
    title: tabs.proof,
    needs: 'none',
    load: async () => (await import('./pages/proof/proof-page.tsx')).ProofPage,
  },
  {
    path: '/developers',
    title: tabs.developers,
    needs: 'none',
    load: afterTexts(
      async () => (await import('./pages/developers/developers-page.tsx')).DevelopersPage,
    ),
  },
  {
    path: '/settings/keys',
    title: settingsTabs.keys,
    needs: 'session',
    load: afterTexts(async () => (await import('./pages/settings/keys/keys-page.tsx')).KeysPage),
  },
  {
    path: '/settings/usage',
    title: settingsTabs.usage,
    needs: 'session',
    load: afterTexts(async () => (await import('./pages/settings/usage/usage-page.tsx')).UsagePage),
  },
  {
    path: '/settings/webhooks',
    title: settingsTabs.webhooks,
    needs: 'session',
    load: afterTexts(
      async () => (await import('./pages/settings/webhooks/webhooks-page.tsx')).WebhooksPage,
    ),
  },
  {
    path: '/settings/webhooks/:id',
    title: titles.webhook,
    needs: 'session',
    load: afterTexts(
      async () => (await import('./pages/settings/webhooks/webhook-page.tsx')).WebhookPage,
    ),
  },
  {
    path: '/settings/account',
    title: settingsTabs.account,
    needs: 'session',
    load: afterTexts(
      async () => (await import('./pages/settings/account/account-page.tsx')).AccountPage,
    ),
  },
  {
    path: '/operator',
    title: tabs.operator,
    needs: 'operator',
    load: afterTexts(async () => (await import('./pages/operator/operator-page.tsx')).OperatorPage),
  },
]

const loadedPages = new Map<Route, Page>()

/** The page, if its code is there already: it is then shown in the same frame. */
export const loadedPage = (route: Route): Page | undefined => loadedPages.get(route)

export async function loadPage(route: Route): Promise<Page> {
  const page = await route.load()
  loadedPages.set(route, page)
  return page
}

/** The page at a path, or undefined where there is none. */
export function routeAt(path: string): Match<Route> | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, path)
    if (params !== undefined) return { route, params }
  }
  return undefined
}
