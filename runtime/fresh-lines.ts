import { statSync } from 'node:fs'
import { secretLines } from './settings.ts'

/**
 * The secrets in a file, read again whenever it has changed, so that a process has a new one without a
 * restart. A file that is empty, or cannot be read, gives what it had.
 * @param known what it had when the process started
 */
export function freshLines(file: string, known: readonly string[] = []): () => readonly string[] {
  let lines = known
  let stamp = ''
  return () => {
    try {
      const { mtimeMs, size, ino } = statSync(file)
      const now = `${mtimeMs} ${size} ${ino}`
      if (now === stamp) return lines
      const read = secretLines(file)
      if (read.length > 0) lines = read
      stamp = now
    } catch {
      // it is being replaced, or is gone
    }
    return lines
  }
}

/** The secret itself: the first line. */
export function freshSecret(file: string, known: string): () => string {
  const lines = freshLines(file, [known])
  return () => lines()[0] ?? known
}
