import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'

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

/**
 * The same for a file that something else may hold: a container to which it alone is mounted keeps the file
 * that it was started with, so a new one in its place would never be seen there. Its mode stays. It is
 * written at once, but a power failure may leave a mixture: write only what can be made again.
 */
export function writeInPlace(file: string, content: string): void {
  if (!existsSync(file)) return writePrivateFile(file, content)
  const opened = openSync(file, 'r+')
  try {
    ftruncateSync(opened, writeSync(opened, content, 0))
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
