import { shownText } from '../core/shown-text.ts'
import { exitCodeOf, exitCodes, inWords } from '../runtime/exit.ts'
import { environment } from '../runtime/process/config.ts'
import { stopSignal } from '../runtime/process/stop-signal.ts'
import { unknownSettings } from '../runtime/unknown-settings.ts'
import { ourCommit, ourVersion } from '../runtime/version.ts'
import { commandList, loadCommand } from './commands.ts'
import { type Command, commandError } from './shell/command.ts'
import { readCommandLine } from './shell/command-line.ts'
import { changeOf } from './shell/operator-change.ts'
import { sharedHelp } from './shell/shared-flags.ts'

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
    return await runCommand(name, await loadCommand(name), rest, doing)
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
  const { flags, words } = readCommandLine(name, command, args)
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

async function printOverview(): Promise<number> {
  print(
    `usage: airproof COMMAND [flags]   (airproof COMMAND --help says more, airproof --version which this is)\n`,
  )
  for (const line of await commandList()) print(`  ${line}`)
  print(`\n${sharedHelp}`)
  return exitCodes.done
}
