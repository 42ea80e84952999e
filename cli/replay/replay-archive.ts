/**
 * Sends an archive through NATS, as its sensors would: a first pass surveys it, a second sends
 * it by time, and the log shows what became of each reading.
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { listSensors } from '../../operate/sensor-registry.ts'
import { MustAct } from '../../runtime/exit.ts'
import { againSubject } from '../../schemas/subjects.ts'
import { openProgress } from '../shell/progress.ts'
import { heldNotes, openRawPublisher } from '../shell/raw-publisher.ts'
import { noRows, type RowCounts, rawBody, type WholeMessage } from './archive-format.ts'
import { type ArchiveFormatName, archiveFormats, holdsMessages } from './archive-formats.ts'
import { archiveIds } from './archive-id.ts'
import { findFiles } from './find-files.ts'
import { groupItems } from './group-items.ts'
import { mergeByTime } from './merge-by-time.ts'
import { shiftMessage } from './message-time.ts'
import { type Pace, paceOf } from './pace.ts'
import { itemsOf, type Survey, surveyArchive } from './survey.ts'
import { followVerdicts, judgedOf, type Verdicts } from './verdicts.ts'

export type ReplayOptions = {
  readonly paths: readonly string[]
  readonly format: ArchiveFormatName
  readonly code: string
  /** Only for the advice in an error: `sensors import` needs it. */
  readonly area: string
  readonly idPrefix: string
  readonly speed: number
  readonly shiftToNow: boolean
  /** Readings per message. */
  readonly batch: number
  /** How long the pipeline may be silent while we wait for its verdicts. */
  readonly patienceMs: number
  readonly nowMs: () => number
  readonly note: (line: string) => void
  readonly isTerminal: boolean
  readonly stop?: AbortSignal | undefined
}

export type Replayed = Verdicts & {
  readonly sent: number
  readonly unmapped: number
  /** Lines that cannot become a message; they are named in notes and count as unmapped. */
  readonly unsendable: number
  readonly counts: RowCounts
}

/** Lines named one by one; the rest are counted. */
const mostNamed = 100

/**
 * @throws MustAct where a sensor is not registered, or a reading is not accounted for
 * @throws TryAgain where NATS or the pipeline is silent
 */
export async function replayArchive(nc: NatsConnection, options: ReplayOptions): Promise<Replayed> {
  const { stop, note } = options
  const idOf = namingOf(options)
  const format = archiveFormats[options.format]
  let unsendable = 0
  const onUnsendable = (where: string, why: string): void => {
    if (++unsendable <= mostNamed) note(`${where} cannot be sent: ${why}`)
  }
  const survey = await surveyArchive(await findFiles(options.paths), {
    format,
    idOf,
    onUnsendable,
    stop,
  })
  if (unsendable > mostNamed) note(`… and ${unsendable - mostNamed} more lines cannot be sent`)
  await needRegistered(nc, survey, options)
  const { counts: rows } = survey
  note(surveyLine(survey, options.format))
  const ours = new Set<string>(survey.sensors.keys())
  await using follower = await followVerdicts(nc, (sensor) => ours.has(sensor))
  const { sent, counts, stored } = await sendAll(nc, survey, idOf, options)
  if (!isSameCount(counts, rows))
    throw new MustAct('the archive changed while it was read: replay it again')
  const verdicts = await awaitVerdicts(sent, options, (onWait) =>
    follower.settled(stored, { patienceMs: options.patienceMs, onWait, stop }),
  )
  return { ...verdicts, sent, unmapped: counts.unmapped, unsendable, counts }
}

type Naming = (name: string) => string | undefined

/** Whole messages name their sensors as they are; the pipeline refuses what is not an id. */
const namingOf = ({ format, idPrefix, code }: ReplayOptions): Naming =>
  holdsMessages(format) ? (name) => name : archiveIds({ idPrefix, code })

function surveyLine(
  { files, counts, readings, sensors }: Survey<string>,
  format: ArchiveFormatName,
): string {
  const who = `${readings} readings of ${sensors.size} sensors`
  return holdsMessages(format)
    ? `${files.length} files, ${who} + ${counts.unmapped} lines that cannot be sent`
    : `${files.length} files, ${counts.rows} rows = ${counts.values} values of ${who} + ${counts.unmapped} unmapped`
}

async function needRegistered(
  nc: NatsConnection,
  survey: Survey<string>,
  { paths, format, code, area, idPrefix }: ReplayOptions,
): Promise<void> {
  const rules = sensorIdRules(idPrefix)
  const known = new Set<string>((await listSensors(nc, rules)).map(({ id }) => id))
  // What is not an id cannot be registered: it is sent, refused and stored like any other.
  const missing = [...survey.sensors.keys()].filter(
    (id) => !known.has(id) && rules.parse(id) !== undefined,
  )
  if (missing.length === 0) return
  const some = missing.slice(0, 3).join(', ') + (missing.length > 3 ? ', …' : '')
  // an import needs places, and messages never have them
  const isEach = missing.some((id) => survey.sensors.get(id)?.stays.length === 0)
  const how = isEach
    ? `sensors add --id ${missing[0]} --area AREA --lat LAT --lon LON --address TEXT`
    : `sensors import ${paths.join(' ')} --format ${format} --code ${code} --area "${area}"`
  throw new MustAct(
    `${missing.length} of its ${survey.sensors.size} sensors are not registered (${some}); register ${isEach ? 'each' : 'them'} first:\n  npx airproof ${how}`,
  )
}

type SentAll = {
  readonly sent: number
  readonly counts: RowCounts
  readonly stored: ReadonlyMap<number, number>
}

async function sendAll(
  nc: NatsConnection,
  survey: Survey<string>,
  idOf: Naming,
  options: ReplayOptions,
): Promise<SentAll> {
  const { batch, nowMs, note, isTerminal, stop } = options
  await using publisher = openRawPublisher(nc, {
    stop,
    subjectOf: (sensor) => againSubject(partitionOf(sensor), sensor),
    ...heldNotes(note),
  })
  using progress = openProgress({ label: 'sent', total: survey.readings, isTerminal })
  const pace = paceOf({
    speed: options.speed,
    shiftToNow: options.shiftToNow,
    firstMs: survey.firstMs ?? 0,
    lastMs: survey.lastMs ?? 0,
    nowMs: nowMs(),
  })
  const group = groupItems(batch, publisher.publish)
  const counts = noRows()
  let sent = 0
  for await (const chunk of mergeByTime(survey.files, {
    format: archiveFormats[options.format],
    counts,
  })) {
    for (const reading of chunk) {
      const early = earlyMs(pace, reading.timeMs, nowMs)
      if (early > 0) await wait(early, undefined, stop === undefined ? {} : { signal: stop })
      const id = idOf(reading.sensor)
      if (id === undefined) continue
      const full =
        reading.message === undefined
          ? group.add(id, rawBody(id, reading, pace.shiftMs))
          : publisher.publish(id, bytesOf(reading.message, pace.shiftMs))
      if (full !== undefined) await full
      sent += itemsOf(reading)
    }
    progress.at(sent)
  }
  await group.flush()
  await publisher.drain()
  return { sent, counts, stored: publisher.stored }
}

const bytesOf = ({ bytes }: WholeMessage, shiftMs: number): Uint8Array =>
  Buffer.from(shiftMessage(bytes, shiftMs), 'latin1')

/** How long until a reading is due; the clock is not read where nothing is paced. */
function earlyMs(pace: Pace, timeMs: number | undefined, nowMs: () => number): number {
  const dueMs = timeMs === undefined ? 0 : pace.dueMs(timeMs)
  return dueMs <= 0 ? 0 : dueMs - nowMs()
}

async function awaitVerdicts(
  sent: number,
  { isTerminal }: ReplayOptions,
  settle: (onWait: (verdicts: Verdicts) => void) => Promise<Verdicts>,
): Promise<Verdicts> {
  using progress = openProgress({ label: 'judged', total: sent, isTerminal })
  const verdicts = await settle((so) => progress.at(judgedOf(so)))
  const judged = judgedOf(verdicts)
  if (judged === sent) return verdicts
  throw new MustAct(
    `${sent} readings were sent and ${judged} are accounted for (${JSON.stringify(verdicts)}): do these sensors publish in another way at the same time?`,
  )
}

const isSameCount = (a: RowCounts, b: RowCounts): boolean =>
  a.rows === b.rows && a.values === b.values && a.unmapped === b.unmapped
