/** What was compared, and what differed; a run passes where nothing differed. */
export type Findings = {
  /** Compares one thing as JSON would write it; `undefined` and `null` are not the same. */
  readonly same: (where: () => string, actual: unknown, expected: unknown) => void
  readonly miss: (what: string) => void
  readonly compared: () => number
  readonly mismatches: () => number
  /** The first few, in words. */
  readonly first: () => readonly string[]
}

const shown = 20

export function createFindings(): Findings {
  const first: string[] = []
  let compared = 0
  let mismatches = 0
  const miss = (what: string): void => {
    mismatches += 1
    if (first.length < shown) first.push(what)
  }
  return {
    same(where, actual, expected) {
      compared += 1
      if (Object.is(actual, expected)) return
      const [a, b] = [inWords(actual), inWords(expected)]
      if (a !== b) miss(`${where()}: ${a}, expected ${b}`)
    },
    miss,
    compared: () => compared,
    mismatches: () => mismatches,
    first: () => first,
  }
}

const inWords = (value: unknown): string => JSON.stringify(value) ?? 'undefined'
