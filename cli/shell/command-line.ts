import { parseArgs } from 'node:util'
import { nearest } from '../../core/nearest.ts'
import { codeOf, WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import type { Command, CommandContext, FlagOptions } from './command.ts'
import { sharedFlags } from './shared-flags.ts'

type CommandLine = Pick<CommandContext, 'flags' | 'words'>

/** @param args what follows the command's name @throws WrongUsage */
export function readCommandLine(name: string, command: Command, args: string[]): CommandLine {
  const line = parseLine(name, command, args)
  const stray = strayFlag(command, line.words, line.flags)
  if (stray === undefined) return line
  throw new WrongUsage(`${stray}\nsee: airproof ${name} --help`)
}

function parseLine(name: string, { options }: Command, args: string[]): CommandLine {
  const all = { ...sharedFlags, ...options }
  try {
    const { values, positionals } = parseArgs({
      args: joinNegatives(args, all),
      options: all,
      allowPositionals: true,
      strict: true,
    })
    return { flags: values, words: positionals }
  } catch (cause) {
    if (!codeOf(cause)?.startsWith('ERR_PARSE_ARGS')) throw cause
    const why = flagFault(joinNegatives(args, all), all)
    throw new WrongUsage(`${why ?? 'the flags cannot be read'}\nsee: airproof ${name} --help`, {
      cause,
    })
  }
}

/** What is wrong with the flags of a call, in a sentence; undefined: nothing. */
export function flagFault(args: readonly string[], options: FlagOptions): string | undefined {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const known = Object.hasOwn(options, name) ? options[name] : undefined
    if (known === undefined) return unknownFlag(rawName, name, Object.keys(options))
    if (known.type === 'boolean' && value !== undefined)
      return `${rawName} takes no value, and is given "${value}"`
    if (known.type === 'string' && value === undefined) return `${rawName} needs a value`
    // `--nats-url --json`: the value was forgotten
    if (known.type === 'string' && inlineValue === false && /^-./.test(value ?? ''))
      return `${rawName} needs a value, and "${value}" comes next: if that is the value, write ${rawName}=${value}`
  }
  return undefined
}

/** A flag that goes with another verb of the command, in a sentence; undefined: there is none. */
export function strayFlag(
  { options, flagsOf = {} }: Pick<Command, 'options' | 'flagsOf'>,
  [verb = '']: readonly string[],
  given: Flags,
): string | undefined {
  const taken = Object.hasOwn(flagsOf, verb) ? flagsOf[verb] : undefined
  if (taken === undefined) return undefined
  const isStray = (name: string): boolean => Object.hasOwn(options, name) && !taken.includes(name)
  const stray = Object.keys(given).find(isStray)
  const names = taken.map((name) => `--${name}`).join(', ')
  return stray === undefined
    ? undefined
    : `--${stray} does not go with "${verb}", which takes ${names}`
}

function unknownFlag(rawName: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  return meant === undefined
    ? `there is no flag ${rawName}`
    : `there is no flag ${rawName}: did you mean --${meant}?`
}

/** `--lat -3.2` as `--lat=-3.2`: Node takes the number for a flag. */
export function joinNegatives(args: readonly string[], options: FlagOptions): string[] {
  const joined: string[] = []
  for (const [place, arg] of args.entries()) {
    const before = joined.at(-1) ?? ''
    const takesText = options[before.replace(/^--/, '')]?.type === 'string'
    if (
      /^-\d/.test(arg) &&
      before.startsWith('--') &&
      takesText &&
      !args.slice(0, place).includes('--')
    )
      joined[joined.length - 1] = `${before}=${arg}`
    else joined.push(arg)
  }
  return joined
}
