import { secondMs } from '../../core/time.ts'
import { exitCodes, WrongUsage } from '../../runtime/exit.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { numberFlag, textFlag, wholeFlag } from '../shell/words.ts'
import {
  archiveFormatNames,
  archiveFormats,
  holdsMessages,
  isArchiveFormatName,
} from './archive-formats.ts'
import { defaultArea, defaultCode } from './archive-id.ts'
import { type Replayed, type ReplayOptions, replayArchive } from './replay-archive.ts'

/** While the store is away late readings wait; after this time an operator should look. */
const patienceMs = 120 * secondMs

const widestName = Math.max(...archiveFormatNames.map(({ length }) => length))
const formatLines = archiveFormatNames.map(
  (name) => `${name.padEnd(widestName)}  ${archiveFormats[name].about}`,
)

export const command: Command = {
  summary: 'send a real archive through NATS, like its sensors would',
  help: `\
usage: airproof replay FILE… --format FORMAT [--speed X|max] [--shift now] [--code ARC] [--batch N]

Reads archives as they are (files, folders, .gz), sends their readings by time and then says what
became of each: accepted, a duplicate, in conflict with another, or refused and why. Its sensors
must be registered: \`airproof sensors import\` with the same files, --format and --code does it,
\`airproof sensors add\` for those of ndjson.

  --format FORMAT  ${formatLines.join(`\n${' '.repeat(19)}`)}
  --speed X        times as fast as it happened; max (default): as fast as it goes
  --shift now      move its time so that it ends now (at --speed 1: starts now)
  --code ARC       the AREA part of the ids, NGR-LOS-ARC-4851 for sensor 4851 (default ARC)
  --batch N        N readings of a sensor in one message, up to 500, as gateways do (default 1)
  --json           {"sent","accepted","partial","duplicate","conflict","unmapped",
                   "refused":{reason: n}}

The value rows of one sensor and timestamp make one reading. A quantity we have no name for (N10,
counts of particles) is counted as unmapped; a time without an offset is UTC.

A line of ndjson is a reading or an array of them, and is sent as it is for its (first) sensor_id:
--code, --area and --batch are for the others, and a wrong one is refused and stored. A line
that names no sensor cannot be sent: it is named, counts as unmapped, and the end is 1.

examples:
  npx airproof sensors import ./archive --format sensors-africa
  npx airproof replay ./archive --format sensors-africa
  npx airproof replay 2026-01-*.csv --format sensor-community --code STK --speed 60 --shift now`,
  options: {
    format: { type: 'string' },
    speed: { type: 'string' },
    shift: { type: 'string' },
    code: { type: 'string' },
    area: { type: 'string' },
    batch: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    const asJson = context.flags['json'] === true
    const options = readOptions(context, readSharedConfig(context).idPrefix)
    return await withInstance(context, async (nc) => {
      const replayed = await replayArchive(nc, options)
      for (const line of replayLines(replayed, { asJson, isWhole: holdsMessages(options.format) }))
        context.print(line)
      return replayed.unsendable > 0 ? exitCodes.mustAct : exitCodes.done
    })
  },
}

function readOptions(
  { flags, words, note, isTerminal, stop }: CommandContext,
  idPrefix: string,
): ReplayOptions {
  if (words.length === 0) throw new WrongUsage('FILE is missing: what should be replayed?')
  const format = textFlag(flags, 'format')
  if (!isArchiveFormatName(format))
    throw new WrongUsage(`--format must be one of ${archiveFormatNames.join(', ')}`)
  const useless = ['code', 'area', 'batch'].find((name) => flags[name] !== undefined)
  if (holdsMessages(format) && useless !== undefined)
    throw new WrongUsage(`--${useless} is not for ${format}, whose lines are sent as they are`)
  const shift = textFlag(flags, 'shift')
  if (shift !== undefined && shift !== 'now')
    throw new WrongUsage(`--shift can only be "now", and is "${shift}"`)
  return {
    paths: words,
    format,
    code: textFlag(flags, 'code') ?? defaultCode,
    area: textFlag(flags, 'area') ?? defaultArea,
    idPrefix,
    speed: speedOf(flags),
    shiftToNow: shift === 'now',
    batch: wholeFlag(flags, 'batch', { min: 1, max: 500 }) ?? 1,
    patienceMs,
    nowMs: Date.now,
    note,
    isTerminal,
    stop,
  }
}

function speedOf(flags: CommandContext['flags']): number {
  if ((textFlag(flags, 'speed') ?? 'max') === 'max') return Number.POSITIVE_INFINITY
  return numberFlag(flags, 'speed', { min: 0.001 }) ?? Number.POSITIVE_INFINITY
}

type LinesOptions = {
  readonly asJson: boolean
  /** Of an archive of whole messages, whose rows are readings. */
  readonly isWhole: boolean
}

export function replayLines(
  replayed: Replayed,
  { asJson, isWhole }: LinesOptions,
): readonly string[] {
  const { sent, accepted, partial, duplicate, conflict, refused, unmapped, unsendable, counts } =
    replayed
  if (asJson)
    return [JSON.stringify({ sent, accepted, partial, duplicate, conflict, refused, unmapped })]
  const reasons = Object.entries(refused).map(([reason, n]) => `  ${reason} ${n}`)
  const rows = isWhole
    ? `rows       ${counts.rows} = ${counts.values} readings + ${unsendable} lines that cannot be sent`
    : `rows       ${counts.rows} = ${counts.values} values of the readings + ${unmapped} unmapped`
  return [
    `sent       ${sent} readings`,
    `accepted   ${accepted}`,
    ...(partial === 0
      ? []
      : [
          `  partial ${partial}: a value was not believable and is left out (airproof rejected list)`,
        ]),
    `duplicate  ${duplicate}`,
    `conflict   ${conflict}`,
    `refused    ${Object.values(refused).reduce((sum, n) => sum + n, 0)}`,
    ...reasons,
    rows,
  ]
}
