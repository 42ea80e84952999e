import { type Command, commandError } from '../../cli/shell/command.ts'
import { changeOf } from '../../cli/shell/operator-change.ts'
import { exitCodeOf, inWords } from '../../runtime/exit.ts'
import type { Environment, Flags } from '../../runtime/settings.ts'

type Said = { readonly code: number; readonly out: string; readonly err: string }
type Told = {
  /** Its name: what it changes is written into the operators' log, as `airproof` does. */
  readonly name?: string
  readonly words?: readonly string[]
  readonly flags?: Flags
  readonly env?: Environment
}

/** Runs a command as `airproof` does, and returns its output and exit code. */
export async function runCommand(
  { run }: Command,
  { name = '', words = [], flags = {}, env = {} }: Told,
): Promise<Said> {
  const [out, err]: [string[], string[]] = [[], []]
  const context = {
    words,
    flags,
    env,
    print: (line: string) => void out.push(line),
    note: (line: string) => void err.push(line),
    isTerminal: false,
    change: changeOf(name, { words, flags, env, note: (line) => void err.push(line) }),
    stop: new AbortController().signal,
  }
  const code = await run(context).catch((cause: unknown) => {
    const error = commandError(cause)
    err.push(inWords(error))
    return exitCodeOf(error)
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}
