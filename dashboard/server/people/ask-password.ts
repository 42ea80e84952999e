import { readPassword } from '../../../operate/password-store.ts'
import type { Session } from '../route.ts'
import type { People } from './people.ts'

/** `revision` is the password's: what follows is void once the account has another one. */
export type AskedPassword = { readonly problem: string } | { readonly revision: number }

/**
 * The password asked again before something that a stranger at an open browser should not do.
 * @throws Refusal 429, 503
 */
export async function askPassword(
  { limits, passwords, work }: People,
  { account }: Session,
  password: string,
): Promise<AskedPassword> {
  limits.password.take(account.id)
  const kept = await readPassword(passwords, account.id)
  const isRight = await work.matches(password, kept?.phc, { isKnown: true })
  // checking takes a while, in which a reset may have replaced it
  const now = await readPassword(passwords, account.id)
  if (!isRight || kept === undefined || now?.revision !== kept.revision)
    return { problem: 'This is not your password' }
  limits.password.forget(account.id)
  return { revision: kept.revision }
}
