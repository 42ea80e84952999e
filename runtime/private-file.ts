import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Writes a file that only its owner may read (0600), atomically: a reader sees the old content or
 * the new, also when the process is killed half-way.
 */
export function writePrivateFile(file: string, content: string): void {
  const aside = `${file}.${process.pid}.new`
  try {
    writeFileSync(aside, content, { mode: 0o600, flush: true })
    // A file that a killed process of the same pid left here keeps its mode when rewritten.
    chmodSync(aside, 0o600)
    renameSync(aside, file)
  } finally {
    rmSync(aside, { force: true })
  }
}
