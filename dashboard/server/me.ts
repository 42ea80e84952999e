import type { Box } from '../../core/map-box.ts'
import type { Contact } from '../config.ts'
import type { MapConfig } from './city-map.ts'
import type { DashboardRoute } from './route.ts'

/**
 * The signed-in account, for the pages in the browser; null without a session, which is not a failure: a
 * 401 would be an error in every visitor's console.
 */
export const me: DashboardRoute = {
  method: 'GET',
  path: '/me',
  needs: 'none',
  handle: (_ctx, session) => {
    if (session === undefined) return { account: null }
    const { id, email, name, organization, tier, role } = session.account
    return { account: { id, email, name, organization, tier, role }, csrf: session.csrf }
  },
}

/** What the pages in the browser need to know of the installation. */
export const pageConfig = ({
  isDemonstration,
  ...config
}: {
  /** Where people reach these pages. */
  readonly url: string
  /** Where programs reach the API. */
  readonly api: string
  readonly contact: Contact | undefined
  readonly network: string
  readonly idPrefix: string
  readonly timezone: string
  /** What the map shows until there are sensors. */
  readonly box: Box
  /** The map's ground; undefined: none. */
  readonly map?: MapConfig | undefined
  /** The operator runs the chain, so proofs say nothing about time. */
  readonly isDemonstration: () => boolean
}): DashboardRoute => ({
  method: 'GET',
  path: '/config.json',
  needs: 'none',
  handle: () => ({ ...config, demonstration: isDemonstration() }),
})
