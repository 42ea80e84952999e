/** What an operator should look at now, from the state of everything; the worst first. */
import type { Status } from './operator-data.ts'

export type Alert = {
  readonly kind:
    | 'idle'
    | 'unjudged'
    | 'unstored'
    | 'notifier'
    | 'deliveries'
    | 'outage'
    | 'mails'
    | 'anchor'
  readonly isBad: boolean
  /** For the words of its kind. */
  readonly count: number
  readonly of: number
  /** The process's own words. */
  readonly words?: string
}

/** Of what waits, as much as is usual when a process was restarted. */
const usual = { unjudged: 10_000, unstored: 50_000, mails: 100, dueSeconds: 300 } as const
/** That part of the sensors offline is more than some broken devices. */
const outage = { share: 0.3, least: 5 } as const

export function alertsOf({
  partitions,
  sensors,
  webhooks,
  lags,
  anchor,
}: Status): readonly Alert[] {
  const sum = (of: 'unjudged' | 'unstored'): number =>
    partitions.reduce((total, row) => total + row[of], 0)
  const idle = partitions.filter(({ worker }) => worker === null).length
  const heard = sensors.online + sensors.offline
  const all: readonly (Alert & { readonly holds: boolean })[] = [
    { kind: 'idle', isBad: true, count: idle, of: partitions.length, holds: idle > 0 },
    ...anchor.alarms.map(({ words }) => ({
      kind: 'anchor' as const,
      isBad: true,
      count: 0,
      of: 0,
      words,
      holds: true,
    })),
    {
      kind: 'outage',
      isBad: true,
      count: sensors.offline,
      of: heard,
      holds: sensors.offline >= outage.least && sensors.offline > outage.share * heard,
    },
    waits('unjudged', sum('unjudged'), usual.unjudged),
    waits('unstored', sum('unstored'), usual.unstored),
    {
      kind: 'notifier',
      isBad: false,
      count: webhooks.silent,
      of: webhooks.shards,
      holds: webhooks.silent > 0,
    },
    {
      ...waits('deliveries', webhooks.oldest_due_seconds, usual.dueSeconds),
      of: webhooks.pending,
    },
    waits('mails', lags.mails, usual.mails),
  ]
  return all.flatMap(({ holds, ...alert }) => (holds ? [alert] : []))
}

const waits = (kind: Alert['kind'], count: number, most: number) => ({
  kind,
  isBad: false,
  count,
  of: 0,
  holds: count > most,
})
