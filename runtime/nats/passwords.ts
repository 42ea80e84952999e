import { secretLines } from '../settings.ts'
import type { NatsLogin } from './nats-trouble.ts'

/**
 * The password for each sign-in in turn. While a password is rotated its file has two lines, and the server
 * accepts one of them: after a refusal the next sign-in is made with the other. A file that cannot be
 * read gives the password that it had.
 */
export function passwordsOf({ password, file }: NatsLogin): {
  readonly next: () => string
  /** How many there are now. */
  readonly count: () => number
} {
  let known: readonly string[] = [password]
  const read = (): readonly string[] => {
    if (file === undefined) return known
    try {
      const lines = secretLines(file)
      if (lines.length > 0) known = lines
    } catch {
      // it is being replaced, or is gone: what it had may still be good
    }
    return known
  }
  let signIns = 0
  return {
    next: () => {
      const lines = read()
      return lines[signIns++ % lines.length] ?? password
    },
    count: () => read().length,
  }
}
