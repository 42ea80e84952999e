import { readPassword } from '../../../operate/password-store.ts'
import type { PeopleTexts } from '../../texts/en/people.ts'
import type { Session } from '../route.ts'
import type { People } from './people.ts'

/** `revision` is the password's: what follows is void once the password has changed. */
export type AskedPassword = { readonly problem: string } | { readonly revision: number }

/**
 * The password asked again before something that a stranger at an open browser should not do.
 * @throws Refusal 429, 503
 */
export async function askPassword(
  { limits, passwords, work }: People,
  { account }: Session,
  { password, words }: { readonly password: string; readonly words: PeopleTexts },
): Promise<AskedPassword> {
  limits.password.take(account.id)
  const stored = await readPassword(passwords, account.id)
  const isRight = await work.matches(password, stored?.phc, { isKnown: true })
  // checking takes a while, in which a reset may have replaced it
  const now = await readPassword(passwords, account.id)
  if (!isRight || stored === undefined || now?.revision !== stored.revision)
    return { problem: words.problems.notYourPassword }
  limits.password.forget(account.id)
  return { revision: stored.revision }
}
