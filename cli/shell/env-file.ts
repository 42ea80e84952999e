/** The file `.env` of the working folder, where commands write settings for the processes. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { WrongUsage } from '../../runtime/exit.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'

export const envFile = '.env'

export type Wanted = Readonly<Record<string, string>>

const readText = (): string => (existsSync(envFile) ? readFileSync(envFile, 'utf8') : '')
export const readEnvFile = (): NodeJS.Dict<string> => parseEnv(readText())

/** Those that the file has with another value. */
export function otherIn(wanted: Wanted): readonly string[] {
  const known = readEnvFile()
  return Object.keys(wanted).filter((name) => (known[name] ?? wanted[name]) !== wanted[name])
}

/**
 * Adds what the file lacks, and with `replace` changes what it has; other lines stay as they are.
 * Atomic, so a run that is killed leaves the former file.
 * @returns the names that were written @throws WrongUsage if a value cannot be in such a file
 */
export function writeEnvFile(wanted: Wanted, { replace = false } = {}): readonly string[] {
  const known = readEnvFile()
  const written = Object.entries(wanted).filter(([name, value]) =>
    replace ? known[name] !== value : known[name] === undefined,
  )
  if (written.length === 0) return []
  const isWritten = (line: string): boolean =>
    written.some(([name]) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(line))
  const kept = readText()
    .split('\n')
    .filter((line) => !isWritten(line))
    .join('\n')
  const added = written.map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  const end = kept === '' || kept.endsWith('\n') ? '' : '\n'
  writePrivateFile(envFile, `${kept}${end}${added.join('')}`)
  return written.map(([name]) => name)
}

function quoted(name: string, value: string): string {
  const quote = ['"', "'", '`'].find((mark) => !value.includes(mark))
  // in double quotes `\n` would be a line break
  if (quote === undefined || /[\n\r\\]/.test(value))
    throw new WrongUsage(`${name}: ${envFile} cannot hold ${JSON.stringify(value)}`)
  return `${quote}${value}${quote}`
}
