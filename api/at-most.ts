import { unavailable } from './api-error.ts'

/** Runs `work` when there is room. @throws ApiError 503 where too many wait already */
export type AtMost = <T>(work: () => Promise<T>) => Promise<T>

/** At most `running` at once and `waiting` in line, first come first served. */
export function atMost({
  running,
  waiting,
}: {
  readonly running: number
  readonly waiting: number
}): AtMost {
  const line: (() => void)[] = []
  let busy = 0
  return async (work) => {
    if (busy === running) {
      if (line.length === waiting) throw unavailable('overloaded', 'too many history requests wait')
      // whoever leaves hands over its place, so `busy` stays
      await new Promise<void>((resolve) => line.push(resolve))
    } else busy++
    try {
      return await work()
    } finally {
      const next = line.shift()
      if (next === undefined) busy--
      else next()
    }
  }
}
