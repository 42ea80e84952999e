import type { NatsConnection } from '@nats-io/transport-node'
import { shownLine } from '../core/shown-text.ts'
import { refusalReasons } from '../core/state/log-message.ts'
import {
  listRejected,
  needRejected,
  type Rejected,
  type RejectedFilter,
  type RejectedWithBytes,
  type ReplayCounts,
  rejectedReasons,
  replayRejected,
} from '../operate/rejected-messages.ts'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { openProgress } from './shell/progress.ts'
import { tableLines } from './shell/table.ts'
import { exactWords, subcommand, textFlag, wholeFlag } from './shell/words.ts'

export const command: Command = {
  summary: 'what was refused and why: list, show, send again',
  help: `\
usage: airproof rejected list [--reason REASON]… [--sensor ID] [--limit 50]
       airproof rejected show ID
       airproof rejected replay [ID…] [--reason REASON]… [--sensor ID] [--limit N]

Every refused reading is stored with its bytes (the first 64 KiB). replay sends it again as its
sensor did and, once NATS has it, removes it from the list; refused again, it is listed again. What
was too long to be stored whole is not sent again.

  --reason REASON  ${refusalReasons.slice(0, 7).join(', ')},
                   ${refusalReasons.slice(7, 13).join(', ')},
                   ${refusalReasons.slice(13).join(', ')};
                   partial: accepted, but a value outside its range was dropped
  --sensor ID      the sensor of the subject it arrived on
  --limit N        the newest N (list: 50, replay: all)
  --json           print data as JSON

examples:
  npx airproof rejected list --reason unknown_sensor
  npx airproof rejected show out_of_range.NGR-LOS-IKJ-017.3.4711.0
  npx airproof sensors add --id NGR-LOS-IKJ-017 …
  npx airproof rejected replay --reason unknown_sensor --sensor NGR-LOS-IKJ-017`,
  options: {
    reason: { type: 'string', multiple: true },
    sensor: { type: 'string' },
    limit: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    list: ['reason', 'sensor', 'limit', 'json'],
    show: ['json'],
    replay: ['reason', 'sensor', 'limit', 'json'],
  },
  run: async (context) => {
    const [verb, words] = subcommand('rejected', context.words, { list, show, replay })
    return await withInstance(context, (nc) => verb(nc, { ...context, words }))
  },
}

async function list(nc: NatsConnection, { flags, words, print }: CommandContext): Promise<number> {
  exactWords(words)
  const rejected = await listRejected(nc, filterOf(flags), limitOf(flags) ?? 50)
  if (flags['json'] === true) print(JSON.stringify(rejected))
  else for (const line of listLines(rejected, nothingKept(filterOf(flags)))) print(line)
  return exitCodes.done
}

const nothingKept = ({ reasons, sensor }: RejectedFilter): string =>
  reasons.length === 0 && sensor === undefined
    ? 'nothing was refused so far'
    : 'nothing that was refused matches: leave --reason or --sensor out to see the rest'

/** A token of a subject may be much longer than any id; the table does not need the end of it. */
const longestSensor = 40
const shortened = (sensor: string): string =>
  sensor.length > longestSensor ? `${sensor.slice(0, longestSensor - 1)}…` : sensor

const listLines = (rejected: readonly Rejected[], nothing: string): readonly string[] =>
  rejected.length === 0
    ? [nothing]
    : tableLines(
        ['ARRIVED', 'ID', 'SENSOR', 'BYTES', 'WHY'],
        rejected.map(({ arrived, id, sensor, length, why }) => [
          arrived,
          id,
          shortened(sensor),
          String(length),
          why,
        ]),
      )

async function show(nc: NatsConnection, { flags, words, print }: CommandContext): Promise<number> {
  const [id = ''] = exactWords(words, 'ID')
  const rejected = await needRejected(nc, id)
  for (const line of showLines(rejected, flags['json'] === true)) print(line)
  return exitCodes.done
}

function showLines(
  { bytes, isTruncated, ...rejected }: RejectedWithBytes,
  asJson: boolean,
): readonly string[] {
  const text = textOf(bytes)
  const body = text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text }
  if (asJson) return [JSON.stringify({ ...rejected, truncated: isTruncated, ...body })]
  const cut = isTruncated ? `, of which the first ${bytes.length} are kept` : ''
  return [
    shownLine(`${rejected.reason}${rejected.why && `: ${rejected.why}`}`),
    `sensor   ${shownLine(rejected.sensor)}`,
    `arrived  ${rejected.arrived}`,
    `length   ${rejected.length} bytes${cut}`,
    `sha256   ${rejected.sha256}`,
    '',
    text ?? `not UTF-8; in base64: ${body.base64}`,
  ]
}

async function replay(
  nc: NatsConnection,
  { flags, words, print, isTerminal }: CommandContext,
): Promise<number> {
  const chosen = await choose(nc, flags, words)
  using progress = openProgress({ label: 'sent again', total: chosen.length, isTerminal })
  const again = await replayRejected(nc, chosen, (done) => progress.at(done))
  print(flags['json'] === true ? JSON.stringify(again) : againLine(again))
  return again.truncated + again.unsendable > 0 ? exitCodes.mustAct : exitCodes.done
}

/** By id, or by filter; a reading that was accepted in part is sent again only where asked for. */
async function choose(
  nc: NatsConnection,
  flags: CommandContext['flags'],
  ids: readonly string[],
): Promise<readonly Rejected[]> {
  if (ids.length > 0) return await Promise.all(ids.map((id) => needRejected(nc, id)))
  const filter = filterOf(flags)
  const reasons = filter.reasons.length > 0 ? filter.reasons : refusalReasons
  const limit = limitOf(flags) ?? Number.MAX_SAFE_INTEGER
  return (await listRejected(nc, { ...filter, reasons }, limit)).toReversed()
}

function againLine({ replayed, truncated, unsendable, gone }: ReplayCounts): string {
  const rest = [
    truncated > 0 ? `${truncated} not: only their beginning is kept` : '',
    unsendable > 0 ? `${unsendable} not: their sensor has no valid name` : '',
    gone > 0 ? `${gone} gone meanwhile` : '',
  ].filter((part) => part !== '')
  return [`${replayed} sent again`, ...rest].join('; ')
}

const knownReasons: readonly string[] = rejectedReasons

function filterOf(flags: CommandContext['flags']): RejectedFilter {
  const given = flags['reason']
  const reasons = (Array.isArray(given) ? given : []).map(String)
  const unknown = reasons.find((reason) => !knownReasons.includes(reason))
  if (unknown !== undefined)
    throw new WrongUsage(`--reason must be one of ${knownReasons.join(', ')}, and is "${unknown}"`)
  return { reasons, sensor: textFlag(flags, 'sensor') }
}

const limitOf = (flags: CommandContext['flags']): number | undefined =>
  wholeFlag(flags, 'limit', { min: 1, max: 1e9 })

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
