import { readPassword } from '../../../operate/password-store.ts'
import type { Session } from '../route.ts'
import type { People } from './people.ts'

/**
 * The password asked again before something that a stranger at an open browser should not do.
 * @returns what is wrong, undefined if it is right  @throws Refusal 429, 503
 */
export async function passwordProblem(
  { limits, passwords, work }: People,
  { account }: Session,
  password: string,
): Promise<string | undefined> {
  limits.password.take(account.id)
  const kept = await readPassword(passwords, account.id)
  if (!(await work.matches(password, kept?.phc, { isKnown: true })))
    return 'This is not your password'
  limits.password.forget(account.id)
  return undefined
}
