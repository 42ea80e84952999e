/** Passwords are costly to check on purpose, so only so many are at work, and so many wait. */
import { availableParallelism } from 'node:os'
import { hashPassword, isPassword } from './password-hash.ts'
import { away } from './refusal.ts'

export type PasswordWork = {
  /** @throws Refusal 503 where too many wait already */
  readonly hash: (password: string) => Promise<string>
  /**
   * The same work whether there is such an account or not.
   * @param kept undefined: there is none, and the answer is false  @throws Refusal 503
   */
  readonly matches: (password: string, kept: string | undefined) => Promise<boolean>
}

type Options = {
  /**
   * At once; half of the cores unless given, so that whatever else the machine does goes on, and
   * at most three of the four threads of Node's pool, which looks files and names up too.
   */
  readonly running?: number
  readonly waiting?: number
}

const halfTheCores = (): number => Math.min(3, Math.max(1, Math.floor(availableParallelism() / 2)))

/** Opens to nothing, and costs what any other does. */
const nobodys =
  '$argon2id$v=19$m=19456,t=2,p=1$YWlycHJvb2Ygbm9ib2R5cw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export function passwordWork({
  running = halfTheCores(),
  waiting = 64,
}: Options = {}): PasswordWork {
  let free = running
  const queue: (() => void)[] = []
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--
    else if (queue.length >= waiting) throw away('busy', 'too many are signing in right now')
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) free++
      else next()
    }
  }
  return {
    hash: (password) => inTurn(() => hashPassword(password)),
    matches: (password, kept) =>
      inTurn(async () => (await isPassword(password, kept ?? nobodys)) && kept !== undefined),
  }
}
