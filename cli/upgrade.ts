import { setTimeout as sleep } from 'node:timers/promises'
import { leaf2Level } from '../core/state/border.ts'
import { type LiveProcess, processInWords, raiseFormatLevel } from '../operate/format-upgrade.ts'
import { exitCodes, MustAct } from '../runtime/exit.ts'
import { newestLevel } from '../schemas/format-level.ts'
import type { Command } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { exactWords } from './shell/words.ts'

export const command: Command = {
  summary: 'raises the format level once every process runs this version',
  help: `\
usage: airproof upgrade [--dry-run] [--json]

Processes of two versions can run on one NATS: a new one writes the formats of the old one until the
format level of the instance is raised. Replace all processes first, one after the other; then run
this. It looks for every process that runs (some ten seconds), and raises the level if all of them
know the new one; else it names those that do not, and changes nothing. It may run again at any
time. \`airproof up\` does it by itself.

After the level is raised, an older version does not start on these data any more: going back takes
a backup from before. From level 3 on batches are anchored in contract 2 (docs/upgrading.md).

  --dry-run   show the level and the processes, and change nothing
  --json      the same as one line of JSON

examples:
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=operator \\
    NATS_PASSWORD_FILE=secrets/operator-password npx airproof upgrade --dry-run
  npx airproof upgrade`,
  options: { 'dry-run': { type: 'boolean' }, json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    const { flags, print, note, stop } = context
    const isDryRun = flags['dry-run'] === true
    const { from, to, processes, outdated } = await withInstance(context, async (nc) => {
      note('looking for the processes that run: this takes some ten seconds')
      const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal: stop })
      return await raiseFormatLevel(nc, { pause, isDryRun })
    })
    if (flags['json'] === true)
      print(JSON.stringify({ level: to, former: from, newest: newestLevel, processes, outdated }))
    else if (isDryRun) for (const line of shownLines(from, processes)) print(line)
    if (outdated.length > 0 && !isDryRun) throw new MustAct(refusal(from, outdated))
    if (flags['json'] !== true && !isDryRun) print(done(from, to, processes.length))
    if (from < leaf2Level && to >= leaf2Level) note(nextContract)
    return exitCodes.done
  },
}

const done = (from: number, to: number, processes: number): string =>
  from === to
    ? `the format level is ${to} already: nothing to do`
    : `the format level was ${from} and is ${to} now; all ${processes} processes that run know it`

/** Not where `up` has a chain of its own, and there no person runs this command. */
const nextContract =
  'batches of the readings from here on need contract 2: when the alarm CONTRACT is on, stop `airproof anchor`, run `airproof anchor deploy --owner ADDRESS`, and start it again (docs/upgrading.md)'

const refusal = (level: number, outdated: readonly LiveProcess[]): string =>
  [
    `the format level stays ${level}: ${outdated.length === 1 ? 'a process does' : `${outdated.length} processes do`} not know level ${newestLevel} yet`,
    ...outdated.map((process) => `  ${processInWords(process)}`),
    'replace each with this version, then run `airproof upgrade` again; a process that was killed counts for 10 s',
  ].join('\n')

const shownLines = (level: number, processes: readonly LiveProcess[]): readonly string[] => [
  `format level ${level}; this version knows ${newestLevel}`,
  ...processes.map((process) => `  ${processInWords(process)}: level ${process.level ?? 1}`),
]
