import type { Contact } from '../config.ts'
import { Refusal } from './refusal.ts'
import type { DashboardRoute } from './route.ts'

/** The signed-in account, for the pages in the browser; 401 without a session. */
export const me: DashboardRoute = {
  method: 'GET',
  path: '/me',
  needs: 'none',
  handle: (_ctx, session) => {
    if (session === undefined) throw new Refusal(401, 'not_signed_in', 'sign in first')
    const { id, email, name, organization, tier, role } = session.account
    return { account: { id, email, name, organization, tier, role }, csrf: session.csrf }
  },
}

/** What the pages in the browser need to know of the installation. */
export const pageConfig = ({
  isDemonstration,
  ...config
}: {
  /** Where programs reach it. */
  readonly api: string
  readonly contact: Contact | undefined
  /** The operator runs the chain, so proofs say nothing about time. */
  readonly isDemonstration: () => boolean
}): DashboardRoute => ({
  method: 'GET',
  path: '/config.json',
  needs: 'none',
  handle: () => ({ ...config, demonstration: isDemonstration() }),
})
