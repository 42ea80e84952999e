import { resolve } from 'node:path'
import { dayMs } from '../../core/time.ts'
import { readArchiveStatus } from '../../operate/archive-status.ts'
import { exitCodes, inWords } from '../../runtime/exit.ts'
import { readSharedConfig, type SharedConfig } from '../../runtime/process/config.ts'
import { flagOf, readSettings, type SettingsSource } from '../../runtime/settings.ts'
import { settingRows } from '../../runtime/settings-table.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { exactWords } from '../shell/words.ts'
import type { World } from './check.ts'
import { checks } from './checks.ts'
import { messagesCheck } from './messages-check.ts'
import { openWorld } from './open-world.ts'
import { orLate } from './or-late.ts'
import { type Checked, runChecks } from './run-checks.ts'
import { settingsFindings } from './settings-check.ts'

export const command: Command = {
  summary: 'what is wrong, before the start and while it runs, and what to do about it',
  help: `\
usage: airproof doctor [--all] [--json]

Checks, in less than 5 s and without changing anything: every setting, versions, the data folder,
its disk, the modes of secret files, rotations, ports, TLS certificates; NATS (sign-in, JetStream,
copies, sync, its clock, all streams), the format level, the processes; the store (InfluxDB's two
buckets, its token, how long it keeps rows; the version of the SQLite file); the chain (nodes,
contract, the writer's key and coin, alarms); the mail server; messages and entries that cannot be
read; the archive. One line for each: ok, warning or broken, what it is, and what to do. What
needs a server that does not answer is skipped. It ends with 0, or with 1 if something is broken.

  --all   every message of every stream, however long that takes, not only the newest
  --json  the same as one line of JSON

examples:
  npx airproof doctor
  npx airproof doctor --json | jq -r '.findings[] | select(.level == "broken") | .what'
  npx airproof doctor --json | jq -r '.broken[] | "\\(.stream) \\(.seq) \\(.why)"'`,
  options: { all: { type: 'boolean' }, json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    const { flags, print } = context
    const report = await examine(context)
    if (flags['json'] === true) print(JSON.stringify(report))
    else for (const line of linesOf(report.findings)) print(line)
    return report.ok ? exitCodes.done : exitCodes.mustAct
  },
}

async function examine(context: CommandContext) {
  const { env, flags, stop, note } = context
  const config = readableConfig(context)
  if (config === undefined) {
    const dataFolder = resolve(readSettings({ env, flags }).text('AIRPROOF_DATA'))
    const found = settingsFindings({ env, flags }, dataFolder)
    return reportOf(found.map((finding) => ({ check: 'settings', ...finding })))
  }
  const isWhole = flags['all'] === true
  await using world = openWorld({ source: { env, flags }, config, stop, isWhole })
  if (!isWhole) return reportOf(await runChecks(checks, world, { note }), await detailsOf(world))
  const rest = checks.filter((check) => check !== messagesCheck)
  const quick = await runChecks(rest, world, { note })
  const slow = await runChecks([messagesCheck], world, { note, withinMs: dayMs })
  return reportOf([...quick, ...slow], await detailsOf(world))
}

/**
 * The shared settings without those that cannot be read, which `settingsFindings` names: the rest is
 * checked all the same.
 */
function readableConfig({ env, flags }: SettingsSource): SharedConfig | undefined {
  try {
    return readSharedConfig({ env, flags })
  } catch (error) {
    const named = settingRows
      .flatMap(([name]) => [name, `${name}_FILE`])
      .filter((name) => new RegExp(`\\b${name}\\b`).test(inWords(error)))
      .filter((name) => env[name] !== undefined || flags[flagOf(name)] !== undefined)
    if (named.length === 0) return undefined
    const none = Object.fromEntries(named.map((name) => [name, undefined]))
    const noFlags = Object.fromEntries(named.map((name) => [flagOf(name), undefined]))
    return readableConfig({ env: { ...env, ...none }, flags: { ...flags, ...noFlags } })
  }
}

type Details = {
  readonly broken?: readonly unknown[]
  readonly streams?: readonly unknown[]
  readonly buckets?: unknown
  readonly archive?: unknown
}

/** Each message that cannot be read, and what the archive says of itself; nothing without NATS. */
async function detailsOf({ nats, messages }: World): Promise<Details> {
  const within = <T>(work: Promise<T>): Promise<T | undefined> =>
    orLate(
      work.catch(() => undefined),
      300,
    )
  const [looked, archive] = await Promise.all([
    within(messages()),
    within(nats().then(readArchiveStatus)),
  ])
  return { ...looked, ...(archive === undefined ? {} : { archive }) }
}

const reportOf = (findings: readonly Checked[], details: Details = {}) => ({
  ok: findings.every(({ level }) => level !== 'broken'),
  findings,
  ...details,
})

function linesOf(findings: readonly Checked[]): readonly string[] {
  const shown = findings.filter(({ level }) => level !== 'skipped')
  const skipped = new Set(
    findings.filter(({ level }) => level === 'skipped').map(({ check }) => check),
  )
  const widest = Math.max(...findings.map(({ check }) => check.length))
  const count = (wanted: string): number => findings.filter(({ level }) => level === wanted).length
  const [broken, warnings] = [count('broken'), count('warning')]
  const plural = (many: number, word: string): string => `${many} ${word}${many === 1 ? '' : 's'}`
  return [
    ...shown.map(
      ({ check, level, what, fix }) =>
        `${level.padEnd(7)}  ${check.padEnd(widest)}  ${what}${fix === undefined ? '' : `: ${fix}`}`,
    ),
    ...(skipped.size === 0
      ? []
      : [`not checked, as NATS or the instance is not there: ${[...skipped].join(', ')}`]),
    broken === 0
      ? `all is well${warnings === 0 ? '' : `, with ${plural(warnings, 'warning')}`}`
      : `${broken} broken, ${plural(warnings, 'warning')}`,
  ]
}
