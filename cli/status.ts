import { isDemonstrationChain } from '../core/proof/demonstration-chain.ts'
import { minuteMs } from '../core/time.ts'
import { archiveLines } from '../operate/archive-status.ts'
import { statisticsLines } from '../operate/statistics-status.ts'
import { readStatus, type StatusReport } from '../operate/status-report.ts'
import { exitCodes, MustAct } from '../runtime/exit.ts'
import { type RunningInstance, readRunningInstance } from '../runtime/machine/running-instance.ts'
import { readSharedConfig } from '../runtime/process/config.ts'
import type { Command } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { lookAround, roomLines, supervisorLines } from './shell/status-local.ts'
import { tableLines } from './shell/table.ts'
import { exactWords } from './shell/words.ts'

/** Rates are taken over this time. */
const lookMs = 1_000

export const command: Command = {
  summary: 'one screen: rates, lags, deliveries due, last anchor, sensors online',
  help: `\
usage: airproof status [--json]

Reads the state of everything from NATS: what arrives, what the pipeline has not judged yet, what
the store has not written yet, partition by partition; which processes are gone or not ready, and
why; which deliveries wait, how old the last anchor is, how many batches are sealed, sent and final,
the alarms of the anchor process in words, how far the archive goes and what keeps it from going on,
how much of the past still gets its hours of sensors, and how many sensors are online. It looks for
a second, to compute rates. It ends with 1 if the supervisor is gone.

  --json   the same as JSON

examples:
  npx airproof status
  npx airproof status --json | jq '[.partitions[].unjudged] | add'
  npx airproof status --json | jq .webhooks.oldest_due_seconds`,
  options: { json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    const config = readSharedConfig(context)
    const running = readRunningInstance(config.dataFolder)
    const instance = running?.nats === config.natsUrl ? running : undefined
    const degraded = instance?.degraded
    const local = [...degradedLines(degraded), ...(await lookAround(config.dataFolder, instance))]
    try {
      const report = await withInstance(context, (nc) => readStatus(nc, { lookMs }))
      if (context.flags['json'] === true)
        context.print(JSON.stringify({ ...report, pids: instance?.pids, degraded, local }))
      else for (const line of statusLines(report, local, Date.now())) context.print(line)
      return supervisorLines(instance).length > 0 ? exitCodes.mustAct : exitCodes.done
    } catch (cause) {
      for (const line of local) context.note(line)
      // NATS only reports that there was an error
      if (roomLines(config.dataFolder).length > 0)
        throw new MustAct('the disk is full, so NATS gives no answers', { cause })
      throw cause
    }
  },
}

/** Processes that keep ending under the supervisor, while the rest continues without them. */
export const degradedLines = (degraded: RunningInstance['degraded'] = {}): readonly string[] =>
  Object.entries(degraded).map(([name, why]) => `degraded   ${name}: ${why}`)

export function statusLines(
  report: StatusReport,
  local: readonly string[],
  nowMs: number,
): readonly string[] {
  const { rates, sensors, readings, events, rejected, partitions } = report
  const sum = (count: 'unjudged' | 'unstored' | 'accepted'): number =>
    partitions.reduce((total, partition) => total + partition[count], 0)
  const idle = partitions.filter(({ worker }) => worker === null).length
  return [
    ...local,
    `rates      ${rates.raw} raw messages/s in, ${rates.accepted} readings/s accepted`,
    `sensors    ${sensors.registered} registered: ${sensors.online} online, ${sensors.offline} offline, ${sensors.unheard} without a fresh reading`,
    `pipeline   ${sum('unjudged')} raw messages not judged yet, ${sum('accepted')} readings accepted so far`,
    `store      ${sum('unstored')} readings not stored yet`,
    `READINGS   at ${readings.last_seq}, ${readings.messages} messages, ${mebibytes(readings.bytes)}`,
    `EVENTS     at ${events.last_seq}, ${events.messages} kept`,
    `REJECTED   ${rejected.messages} kept, ${mebibytes(rejected.bytes)} (airproof rejected list)`,
    `webhooks   ${webhookWords(report.webhooks)}`,
    `anchor     ${anchorWords(report.anchor, nowMs)}`,
    `batches    ${batchWords(report.anchor)}`,
    ...alarmLines(report.anchor),
    ...archiveLines(report.archive),
    ...statisticsLines(report.statistics),
    ...(idle > 0 ? [`${idle} of ${partitions.length} partitions have no worker`] : []),
    '',
    ...tableLines(
      ['P', 'RAW', 'UNJUDGED', 'ACCEPTED', 'LOG', 'UNSTORED', 'LAST COMMIT', 'WORKER'],
      partitions.map((row) => [
        String(row.partition),
        String(row.raw),
        String(row.unjudged),
        String(row.accepted),
        String(row.log_seq),
        String(row.unstored),
        row.log_time ?? '-',
        row.worker ?? '-',
      ]),
    ),
  ]
}

function webhookWords({ shards, silent, ...counts }: StatusReport['webhooks']): string {
  if (silent === shards) return 'unknown: no notifier answers'
  const { pending, dead, in_breaker, oldest_due_seconds } = counts
  const oldest = oldest_due_seconds === 0 ? 'none due' : `oldest due ${oldest_due_seconds} s ago`
  const unknown = silent === 0 ? '' : `; ${silent} of ${shards} shards do not answer`
  return `${pending} deliveries wait, ${oldest}; ${dead} given up, ${in_breaker} endpoints in breaker${unknown}`
}

function anchorWords(anchor: StatusReport['anchor'], nowMs: number): string {
  const { last, not_anchored, chain_id } = anchor
  const isTest = chain_id !== null && isDemonstrationChain(chain_id)
  const chain =
    chain_id === null ? '' : `; chain ${chain_id}${isTest ? ', a local test chain' : ''}`
  const rest = `${not_anchored} readings not anchored yet${chain}`
  if (last === null) return `none is final yet, ${rest}`
  const minutes = Math.max(0, Math.floor((nowMs - Date.parse(last.anchored_at)) / minuteMs))
  return `batch ${last.batch} final, ${minutes} min old, ${rest}`
}

function batchWords({ batches, oldest_seconds: oldest, worker }: StatusReport['anchor']): string {
  const { sealed, sent, final } = batches
  const waits =
    oldest === null
      ? ''
      : `, ${sent} sent; the oldest not final is ${oldest < 60 ? `${oldest} s` : `${Math.floor(oldest / 60)} min`} old`
  return `${sealed} sealed, ${final} final${waits}${worker === null ? '; no process anchors now' : ''}`
}

/** Full sentences, as the log has them. */
const alarmLines = ({ alarms, alarms_since: since }: StatusReport['anchor']): readonly string[] =>
  alarms.map(({ reason, words }) => `ALARM      ${reason} since ${since}: ${words}`)

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
