import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Writes a file that only its owner may read (0600), whole or not at all: a reader, and a
 * process killed half-way, sees the old content or the new.
 */
export function writePrivateFile(file: string, content: string): void {
  const aside = `${file}.${process.pid}.new`
  try {
    writeFileSync(aside, content, { mode: 0o600, flush: true })
    // An old file left aside by a killed process of the same pid keeps its mode when rewritten.
    chmodSync(aside, 0o600)
    renameSync(aside, file)
  } finally {
    rmSync(aside, { force: true })
  }
}
