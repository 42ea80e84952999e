import { freshLines } from '../fresh-lines.ts'
import type { NatsLogin } from './nats-trouble.ts'

/**
 * The password for each sign-in in turn. While a password is rotated its file has two lines, and the server
 * accepts one of them: after a refusal the next sign-in is made with the other.
 */
export function passwordsOf({ password, file }: NatsLogin): {
  readonly next: () => string
  /** How many there are now. */
  readonly count: () => number
} {
  const read = file === undefined ? () => [password] : freshLines(file, [password])
  let signIns = 0
  return {
    next: () => {
      const lines = read()
      return lines[signIns++ % lines.length] ?? password
    },
    count: () => read().length,
  }
}
