import { nearest } from '../core/nearest.ts'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import { flagOf, readSettings, type SettingsSource } from '../runtime/settings.ts'
import { type SettingName, type SettingRow, settingRows } from '../runtime/settings-table.ts'
import type { Command } from './shell/command.ts'
import { tableLines } from './shell/table.ts'

export const command: Command = {
  summary: 'every setting: its kind, its default, who reads it',
  help: `\
usage: airproof settings [WORD] [--json]

Lists every setting that airproof reads, or those that have WORD in their name, in who reads them or
in what they do; those that are set now are marked with *. No value is printed: some are secrets. A
setting is a variable of the environment, or a line of .env; a flag of the same name, for the
commands that have it, is used before both.

  --json      the same as JSON
  --markdown  as the page docs/settings.md

examples:
  npx airproof settings influx
  npx airproof settings --json | jq -r '.[] | select(.is_set).name'`,
  options: { json: { type: 'boolean' }, markdown: { type: 'boolean' } },
  run: async ({ words, flags, env, print }) => {
    const [word, ...others] = words
    if (others.length > 0) throw new WrongUsage('settings takes one word')
    if (flags['markdown'] === true) {
      for (const line of settingsPage()) print(line)
      return exitCodes.done
    }
    const rows = settingsWith(word, { env, flags: {} })
    if (flags['json'] === true) print(JSON.stringify(rows))
    else for (const line of linesOf(rows)) print(line)
    return exitCodes.done
  },
}

type Listed = SettingRow & { readonly name: SettingName; readonly is_set: boolean }

function settingsWith(word: string | undefined, source: SettingsSource): readonly Listed[] {
  const { isSet } = readSettings(source)
  const all = settingRows.map(([name, row]) => ({ name, ...row, is_set: isSet(name) }))
  if (word === undefined) return all
  const wanted = word.toLowerCase()
  const matching = all.filter(({ name, of, what }) =>
    [name, ...of, what].some((text) => text.toLowerCase().includes(wanted)),
  )
  if (matching.length > 0) return matching
  const meant = nearest(
    word.toUpperCase(),
    all.map(({ name }) => name),
  )
  throw new WrongUsage(
    `no setting has "${word}" in its name or in what it does${meant === undefined ? '' : `: did you mean ${meant}?`}`,
  )
}

const linesOf = (rows: readonly Listed[]): readonly string[] =>
  tableLines(
    ['', 'NAME', 'KIND', 'DEFAULT', 'READ BY', 'WHAT'],
    rows.map((row) => [
      row.is_set ? '*' : '',
      nameOf(row.name, row),
      kindOf(row),
      defaultOf(row).replaceAll('`', ''),
      row.of.join(' '),
      row.what.replaceAll('`', ''),
    ]),
  )

const nameOf = (name: string, { is }: SettingRow): string =>
  is === 'secret' ? `${name}[_FILE]` : name

function kindOf({ is, min, max, choices, protocols }: SettingRow): string {
  switch (is) {
    case 'int':
      return max === undefined ? `number, from ${min ?? 0}` : `number, ${min ?? 0} to ${max}`
    case 'choice':
      return choices?.join(', ') ?? ''
    case 'url':
      return protocols?.map((protocol) => `${protocol}//`).join(' ') ?? ''
    case 'yes':
      return 'yes or no'
    case 'instant':
      return 'day or instant'
    case 'duration':
      return 'duration'
    case 'port':
    case 'secret':
    case 'text':
      return is
  }
}

const defaultOf = ({ is, default: given, otherwise }: SettingRow): string =>
  is === 'yes' ? 'no' : (given ?? otherwise ?? '')

/** docs/settings.md. */
export const settingsPage = (): readonly string[] => [
  '# Settings',
  '',
  'Made from `runtime/settings-table.ts` by `airproof settings --markdown`; a test compares the two. A setting is a variable of the',
  'environment of a process, or a line of `.env` in the folder where it starts. A flag of the same name is used before both, for',
  `the commands that have it: \`AIRPROOF_API_PORT\` is \`--${flagOf('AIRPROOF_API_PORT')}\`, \`NATS_URL\` is \`--${flagOf('NATS_URL')}\`. An empty value counts as absent; a wrong`,
  'one ends the process with 2 and a sentence that names the setting. A name that begins with `AIRPROOF_` or `ANCHOR_` and is not',
  'in the table is reported at the start, with the nearest one that is. `airproof doctor` checks all of them.',
  '',
  'A secret is the value of its variable, or the first line of the file that the variable with `_FILE` names, or the credential of its',
  'name that systemd gives to the service ([secrets.md](secrets.md)). Durations are like',
  '`250ms`, `30s`, `5m`, `2h`, `1d`; an instant is a day or ISO 8601, UTC if it names no offset; yes is `1`, `true`, `yes` or `on`.',
  '',
  '| setting | kind | default | read by | since | |',
  '|---|---|---|---|---|---|',
  ...settingRows.map(([name, row]) => {
    const names = row.is === 'secret' ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``
    const given = row.default === undefined ? defaultOf(row) : `\`${row.default}\``
    return `| ${names} | ${kindOf(row)} | ${given} | ${row.of.join(', ')} | ${row.since} | ${row.what} |`
  }),
  '',
  '`all` is every process and command; `up` also passes everything on to the processes that it starts.',
]
