/** Reads a command's words and its own flags, with errors that say what to type. */
import { WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import { parseDurationMs } from '../../runtime/settings.ts'

/** A flag's text; undefined where it is absent or empty. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** Of a flag that may be given several times. */
export function textsFlag(flags: Flags, name: string): readonly string[] {
  const value = flags[name]
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

export function neededFlag(flags: Flags, name: string, example: string): string {
  const value = textFlag(flags, name)
  if (value === undefined)
    throw new WrongUsage(`--${name} is needed, for example --${name} ${example}`)
  return value
}

type Bounds = { readonly min?: number; readonly max?: number }

export function numberFlag(
  flags: Flags,
  name: string,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Bounds = {},
): number | undefined {
  const text = textFlag(flags, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isFinite(value) && value >= min && value <= max) return value
  throw new WrongUsage(`--${name} must be a number from ${min} to ${max}, and is "${text}"`)
}

export function wholeFlag(flags: Flags, name: string, bounds: Bounds): number | undefined {
  const value = numberFlag(flags, name, bounds)
  if (value === undefined || Number.isInteger(value)) return value
  throw new WrongUsage(`--${name} must be a whole number, and is "${value}"`)
}

/** Of an account or a contract on a chain. */
export function addressFlag(flags: Flags, name: string): `0x${string}` | undefined {
  const text = textFlag(flags, name)
  if (text === undefined) return undefined
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return `0x${text.slice(2)}`
  throw new WrongUsage(`--${name} must be an address, 0x and 40 hex digits, and is "${text}"`)
}

/** `5m`, `30s`, in ms. */
export function durationFlag(flags: Flags, name: string): number | undefined {
  const text = textFlag(flags, name)
  if (text === undefined) return undefined
  const value = parseDurationMs(text)
  if (value !== undefined) return value
  throw new WrongUsage(`--${name} must be a duration such as 30s, 5m or 1h, and is "${text}"`)
}

/**
 * The entry of the table that the first word names, and the words after it.
 * @throws WrongUsage that lists the entries
 */
export function subcommand<T>(
  name: string,
  words: readonly string[],
  table: Readonly<Record<string, T>>,
): readonly [T, readonly string[]] {
  const [first, ...rest] = words
  const entry = first !== undefined && Object.hasOwn(table, first) ? table[first] : undefined
  if (entry !== undefined) return [entry, rest]
  const fault = first === undefined ? 'say what to do' : `there is no "${first}"`
  throw new WrongUsage(
    `${name}: ${fault}: ${Object.keys(table).join(', ')} (airproof ${name} --help says more)`,
  )
}

/** Exactly these words. @throws WrongUsage that names the missing or the surplus one */
export function exactWords(
  words: readonly string[],
  ...names: readonly string[]
): readonly string[] {
  const missing = names[words.length]
  if (missing !== undefined) throw new WrongUsage(`${missing} is missing`)
  const surplus = words[names.length]
  if (surplus !== undefined) throw new WrongUsage(`"${surplus}" is one word too many`)
  return words
}
