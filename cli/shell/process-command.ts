import { exitCodes } from '../../runtime/exit.ts'
import type { ProcessMain } from '../../runtime/process/process.ts'
import type { Command, FlagOptions } from './command.ts'
import { exactWords } from './words.ts'

const closingMs = 2_000
/** What a supervisor waits for; without one (it was killed) nothing else would end us. */
const stopWithinMs = 10_000

type Options = {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<ProcessMain>
  readonly options?: FlagOptions
}

/** The command that runs one process in the foreground until it is stopped. */
export const processCommand = ({ name, summary, load, options = {} }: Options): Command => ({
  summary,
  help: `\
usage: airproof ${name} [--nats-url URL] [--data DIR] [--admin-port N]

Runs until Ctrl-C or SIGTERM, which stop it in order; a second one stops it at once.
/health, /ready and /metrics are on its admin port. All settings are variables too.

examples:
  npx airproof ${name} --nats-url nats://127.0.0.1:4222 --admin-port 9090
  AIRPROOF_LOG=debug npx airproof ${name}`,
  options,
  isLasting: true,
  run: async ({ env, flags, note, stop, words }) => {
    exactWords(words)
    stop.addEventListener('abort', () => {
      setTimeout(() => {
        note(`${name} did not stop within ${stopWithinMs / 1_000} s: ended`)
        process.exit(exitCodes.tryAgain)
      }, stopWithinMs).unref()
    })
    // not for the commands that only ask something
    const { runProcess } = await import('../../runtime/process/process.ts')
    const code = await runProcess({ name, main: await load(), source: { env, flags }, stop })
    // everything is closed already; a forgotten handle must not keep a process without any client
    setTimeout(() => process.exit(code), closingMs).unref()
    return code
  },
})
