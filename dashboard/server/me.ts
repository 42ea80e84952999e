import type { Contact } from '../config.ts'
import { Refusal } from './refusal.ts'
import type { DashboardRoute } from './route.ts'

/** Who is signed in, for the pages in the browser; 401 where nobody is. */
export const me: DashboardRoute = {
  method: 'GET',
  path: '/me',
  needs: 'nobody',
  handle: (_ctx, session) => {
    if (session === undefined) throw new Refusal(401, 'not_signed_in', 'nobody is signed in')
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
  needs: 'nobody',
  handle: () => ({ ...config, demonstration: isDemonstration() }),
})
