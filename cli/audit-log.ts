import { formatIso } from '../core/iso-time.ts'
import { type OperatorEntry, readOperatorLog } from '../operate/operator-log.ts'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import { instantInWords, parseDurationMs, parseInstantMs } from '../runtime/settings.ts'
import type { Command } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { tableLines } from './shell/table.ts'
import { exactWords, textFlag } from './shell/words.ts'

export const command: Command = {
  summary: 'what operators did, who and when, by command and on pages',
  help: `\
usage: airproof audit-log [--since TIME] [--who TEXT] [--what TEXT] [--json]

Lists, newest first, what operators did: by a command, with the user and host of the command line;
and on the dashboard's pages, with the account. Each command that changes accounts, keys, sensors,
applications, webhooks, refused messages, the contract, the archive, the streams or the format
level is in it after it was done, or with the reason why it failed; so is another setting of how
long readings stay (retention). The newest 1,000 commands, and 1,000 events of each account, are
kept for 90 days.

  --since TIME  7d, or a day or an instant: nothing earlier
  --who TEXT    only those whose user, host or account has it
  --what TEXT   only those whose command or event has it, such as keys or operator_tier
  --json        one line of JSON for each

examples:
  npx airproof audit-log --since 7d
  npx airproof audit-log --what "keys revoke" --json | jq -r .who`,
  options: {
    since: { type: 'string' },
    who: { type: 'string' },
    what: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    exactWords(context.words)
    const { flags, print } = context
    const sinceMs = sinceOf(textFlag(flags, 'since'))
    const [who = '', what = ''] = [textFlag(flags, 'who'), textFlag(flags, 'what')]
    const has = (text: string, part: string): boolean =>
      text.toLowerCase().includes(part.toLowerCase())
    return await withInstance(context, async (nc) => {
      const all = await readOperatorLog(nc)
      const entries = all.filter(
        (entry) => Date.parse(entry.at) >= sinceMs && has(entry.who, who) && has(entry.what, what),
      )
      if (flags['json'] === true) for (const entry of entries) print(JSON.stringify(entry))
      else for (const line of linesOf(entries, all.length)) print(line)
      return exitCodes.done
    })
  },
}

function sinceOf(text: string | undefined): number {
  if (text === undefined) return 0
  const agoMs = parseDurationMs(text)
  const sinceMs = agoMs === undefined ? parseInstantMs(text) : Date.now() - agoMs
  if (sinceMs === undefined)
    throw new WrongUsage(`--since must be a time such as 7d, or ${instantInWords}; it is "${text}"`)
  return sinceMs
}

function linesOf(entries: readonly OperatorEntry[], all: number): readonly string[] {
  if (entries.length === 0)
    return [all === 0 ? 'nothing was done yet' : `none of ${all} entries is of that kind`]
  return tableLines(
    ['WHEN', 'WHO', 'WHAT', 'DETAILS'],
    entries.map(({ at, who, what, details }) => [
      formatIso(Date.parse(at)),
      who,
      what,
      detailsInWords(details),
    ]),
  )
}

const detailsInWords = (details: OperatorEntry['details']): string =>
  Object.entries(details)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
