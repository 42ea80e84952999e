/**
 * Passwords are costly to check on purpose, so the numbers of running and waiting checks are
 * bounded. Known people wait in a line of their own, which goes first: strangers do not delay them.
 */
import { availableParallelism } from 'node:os'
import { hashPassword, isPassword } from '../../operate/password-hash.ts'
import { away } from './refusal.ts'

export type PasswordWork = {
  /** For a known person, by a link or a session. @throws Refusal 503 if too many wait already */
  readonly hash: (password: string) => Promise<string>
  /**
   * The same work whether there is such an account or not.
   * @param stored undefined: no such account, so the answer is false  @throws Refusal 503
   */
  readonly matches: (
    password: string,
    stored: string | undefined,
    options?: { readonly isKnown?: boolean },
  ) => Promise<boolean>
}

type Options = {
  /**
   * At once; half of the cores unless given, so that other work of the machine continues, and
   * at most three of the four threads of Node's pool, which also reads files and resolves names.
   */
  readonly running?: number
  readonly waiting?: number
}

const halfTheCores = (): number => Math.min(3, Math.max(1, Math.floor(availableParallelism() / 2)))

/** No password matches it, and checking it costs the same as any other. */
const unmatchable =
  '$argon2id$v=19$m=19456,t=2,p=1$YWlycHJvb2Ygbm9ib2R5cw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export function passwordWork({
  running = halfTheCores(),
  waiting = 64,
}: Options = {}): PasswordWork {
  let free = running
  const known: (() => void)[] = []
  const strangers: (() => void)[] = []
  const inTurn = async <T>(isKnown: boolean, work: () => Promise<T>): Promise<T> => {
    const line = isKnown ? known : strangers
    if (free > 0) free--
    else if (line.length >= waiting) throw away('busy', 'too many people are signing in right now')
    else await new Promise<void>((resolve) => line.push(resolve))
    try {
      return await work()
    } finally {
      const next = known.shift() ?? strangers.shift()
      if (next === undefined) free++
      else next()
    }
  }
  return {
    hash: (password) => inTurn(true, () => hashPassword(password)),
    matches: (password, stored, { isKnown = false } = {}) =>
      inTurn(
        isKnown,
        async () => (await isPassword(password, stored ?? unmatchable)) && stored !== undefined,
      ),
  }
}
