import { parseArgs } from 'node:util'
import { nearest } from '../core/nearest.ts'
import { shownText } from '../core/shown-text.ts'
import { codeOf, exitCodeOf, exitCodes, inWords, WrongUsage } from '../runtime/exit.ts'
import { environment } from '../runtime/process/config.ts'
import { stopSignal } from '../runtime/process/stop-signal.ts'
import type { Flags } from '../runtime/settings.ts'
import { unknownSettings } from '../runtime/unknown-settings.ts'
import { ourCommit, ourVersion } from '../runtime/version.ts'
import { commands } from './commands.ts'
import type { Command } from './shell/command.ts'
import { commandError } from './shell/command-error.ts'
import { flagFault, joinNegatives, strayFlag } from './shell/flag-fault.ts'
import { changeOf } from './shell/operator-change.ts'
import { sharedFlags, sharedHelp } from './shell/shared-flags.ts'

// all output of commands goes through here, including text of sensors and customers
const print = (line: string): void => void process.stdout.write(`${shownText(line)}\n`)
const note = (line: string): void => void process.stderr.write(`${shownText(line)}\n`)

/** @param args without the program's name @returns the exit code (`runtime/exit.ts`) */
export async function main(args: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = args
  const doing = { stop: stopSignal([process.stdout, process.stderr]), isLasting: false }
  doing.stop.addEventListener('abort', () => {
    // it only prints, so there is nothing to stop: its reader has enough, which is not a failure
    if (doing.stop.reason === 'unread' && !doing.isLasting) process.exit(exitCodes.done)
  })
  try {
    if (['--help', '-h', 'help'].includes(name)) return await printOverview()
    if (['--version', '-v', 'version'].includes(name)) {
      const commit = ourCommit()
      print(commit === undefined ? ourVersion() : `${ourVersion()} (commit ${commit})`)
      return exitCodes.done
    }
    const load = commands[name]
    if (!load || !Object.hasOwn(commands, name)) throw new WrongUsage(unknownCommand(name))
    return await runCommand(name, await load(), rest, doing)
  } catch (cause) {
    const error = commandError(cause)
    note(
      `airproof: ${cause === doing.stop.reason ? 'stopped before it was done: run the same command again' : inWords(error)}`,
    )
    return exitCodeOf(error)
  }
}

type Doing = { readonly stop: AbortSignal; isLasting: boolean }

async function runCommand(
  name: string,
  command: Command,
  args: string[],
  doing: Doing,
): Promise<number> {
  const { flags, words } = parse(name, command, args)
  if (flags['help'] === true) {
    print(`airproof ${name}: ${command.summary}\n\n${command.help}\n\n${sharedHelp}`)
    return exitCodes.done
  }
  const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true
  const env = environment()
  doing.isLasting = command.isLasting === true
  // `up` has already reported them for the processes that it starts
  if (process.channel === undefined)
    for (const words of unknownSettings(env)) note(`airproof: ${words}`)
  const change = changeOf(name, { words, flags, env, note })
  return await command.run({ env, flags, words, print, note, isTerminal, change, stop: doing.stop })
}

function parse(
  name: string,
  command: Command,
  args: string[],
): { flags: Flags; words: readonly string[] } {
  const parsed = parseAny(name, command, args)
  const stray = strayFlag(command, parsed.words, parsed.flags)
  if (stray === undefined) return parsed
  throw new WrongUsage(`${stray}\nsee: airproof ${name} --help`)
}

function parseAny(
  name: string,
  { options }: Command,
  args: string[],
): { flags: Flags; words: readonly string[] } {
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

function unknownCommand(name: string): string {
  const meant = nearest(name, Object.keys(commands))
  const hint = meant === undefined ? 'see: airproof --help' : `did you mean "${meant}"?`
  return `there is no command "${name}": ${hint}`
}

async function printOverview(): Promise<number> {
  const widest = Math.max(...Object.keys(commands).map(({ length }) => length))
  const rows = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => {
      const { summary } = await load()
      return `  ${name.padEnd(widest)} ${summary}`
    }),
  )
  print(
    `usage: airproof COMMAND [flags]   (airproof COMMAND --help says more, airproof --version which this is)\n`,
  )
  for (const row of rows) print(row)
  print(`\n${sharedHelp}`)
  return exitCodes.done
}
