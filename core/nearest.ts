/** The candidate that a person most likely meant, or undefined where none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(word, candidate) }))
    .toSorted((a, b) => a.edits - b.edits)
  return best && best.edits <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined
}

/** Levenshtein distance: letters inserted, deleted or changed. */
export function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
