import type { ComponentType } from 'preact'
import { matchPath } from './match-path.ts'
import type { PageProps } from './page.ts'
import type { Match } from './router.ts'

type Page = ComponentType<PageProps>

export type Route = {
  readonly path: string
  readonly title: string
  /** A page's code is loaded when it is first visited. */
  readonly load: () => Promise<Page>
  /** What the page needs: others see a request to sign in, or that it is not for them. */
  readonly needs: 'none' | 'session' | 'operator'
}

const routes: readonly Route[] = [
  {
    path: '/',
    title: 'City',
    needs: 'none',
    load: async () => (await import('./pages/city/city-page.tsx')).CityPage,
  },
  {
    path: '/sensors/:id',
    title: 'Sensor',
    needs: 'none',
    load: async () => (await import('./pages/sensor/sensor-page.tsx')).SensorPage,
  },
  {
    path: '/proof',
    title: 'Proof',
    needs: 'none',
    load: async () => (await import('./pages/proof/proof-page.tsx')).ProofPage,
  },
  {
    path: '/proof/:id/:timestamp',
    title: 'Proof',
    needs: 'none',
    load: async () => (await import('./pages/proof/proof-page.tsx')).ProofPage,
  },
  {
    path: '/settings/keys',
    title: 'API keys',
    needs: 'session',
    load: async () => (await import('./pages/settings/keys-page.tsx')).KeysPage,
  },
  {
    path: '/settings/usage',
    title: 'Usage',
    needs: 'session',
    load: async () => (await import('./pages/settings/usage-page.tsx')).UsagePage,
  },
  {
    path: '/settings/webhooks',
    title: 'Webhooks',
    needs: 'session',
    load: async () => (await import('./pages/settings/webhooks-page.tsx')).WebhooksPage,
  },
  {
    path: '/settings/webhooks/:id',
    title: 'Webhook',
    needs: 'session',
    load: async () => (await import('./pages/settings/webhook-page.tsx')).WebhookPage,
  },
  {
    path: '/settings/account',
    title: 'Account',
    needs: 'session',
    load: async () => (await import('./pages/settings/account-page.tsx')).AccountPage,
  },
  {
    path: '/operator',
    title: 'Operator',
    needs: 'operator',
    load: async () => (await import('./pages/operator/operator-page.tsx')).OperatorPage,
  },
]

/** The page at a path, or undefined where there is none. */
export function routeAt(path: string): Match<Route> | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, path)
    if (params !== undefined) return { route, params }
  }
  return undefined
}
