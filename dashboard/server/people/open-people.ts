import type { NatsConnection } from '@nats-io/transport-node'
import type { AccountBook } from '../../../operate/account-book.ts'
import { openPasswords } from '../../../operate/password-store.ts'
import type { MailQueue } from '../../../runtime/nats/mail-queue.ts'
import type { SecretBox } from '../../../runtime/secrets/seal-secret.ts'
import type { WriteAudit } from '../account-api/audit.ts'
import { passwordWork } from '../password-work.ts'
import type { DashboardRoute } from '../route.ts'
import type { Sessions } from '../sessions.ts'
import { accountRoutes } from './account-page.ts'
import { emailRoutes } from './change-email.ts'
import { passwordRoutes } from './change-password.ts'
import { confirmRoutes } from './confirm-account.ts'
import type { Holdings } from './holdings.ts'
import { openKnownBrowsers } from './known-browser.ts'
import { createLimits } from './limits.ts'
import { openLinkTokens } from './link-tokens.ts'
import type { People } from './people.ts'
import { resetRoutes } from './reset.ts'
import { signInRoutes } from './sign-in.ts'
import { signUpRoutes } from './sign-up.ts'

type Options = {
  readonly nc: NatsConnection
  readonly book: AccountBook
  readonly sessions: Sessions
  readonly mails: MailQueue
  readonly box: SecretBox
  readonly audit: WriteAudit
  readonly holdings: Holdings
  readonly publicUrl: string
  readonly proxies: number
  readonly nowMs: () => number
  readonly clockMs: () => number
}

/** The pages for people that work without JavaScript. */
export async function openPeople({
  clockMs,
  box,
  ...options
}: Options): Promise<readonly DashboardRoute[]> {
  const { nc, nowMs } = options
  const people: People = {
    ...options,
    passwords: await openPasswords(nc),
    browsers: openKnownBrowsers(box, nowMs),
    links: await openLinkTokens(nc, nowMs),
    work: passwordWork(),
    limits: createLimits(clockMs),
  }
  return [
    ...signUpRoutes(people),
    ...confirmRoutes(people),
    ...signInRoutes(people),
    ...resetRoutes(people),
    ...passwordRoutes(people),
    ...emailRoutes(people),
    ...accountRoutes(people),
  ]
}
