import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PartitionStatus } from '../../../../operate/status-report.ts'
import { getJson } from '../../data.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAsked } from '../../parts/use-asked.ts'
import { When } from '../../parts/when.tsx'
import type { Status } from './operator-data.ts'

const lookAgainMs = 5_000

/** Rates, and how far each stage is behind the one before it. */
export function StatusTab() {
  const asked = useAsked((signal) => getJson<Status>('/operator/api/status', { signal }), [])
  const { again, isAsking } = asked
  useEffect(() => {
    if (isAsking) return undefined
    const timer = setTimeout(() => {
      if (!document.hidden) again()
    }, lookAgainMs)
    return () => clearTimeout(timer)
  }, [isAsking, again])
  return (
    <>
      {asked.error !== undefined && <Failed error={asked.error} retry={again} />}
      {asked.value === undefined && asked.error === undefined && (
        <Loading what="Looking for a second, to tell rates…" />
      )}
      {asked.value !== undefined && <Shown status={asked.value} />}
    </>
  )
}

type FigureProps = {
  readonly name: string
  readonly value: string
  readonly isBad?: boolean
  readonly children?: ComponentChildren
}

const Figure = ({ name, value, isBad = false, children }: FigureProps) => (
  <div class="card">
    <h2>{name}</h2>
    <p class="big number">{value}</p>
    <p class={isBad ? 'error' : 'muted'}>{children}</p>
  </div>
)

const many = (value: number): string => value.toLocaleString()
const orNever = (value: number | null): string => (value === null ? 'never ran' : many(value))

function Shown({ status }: { readonly status: Status }) {
  const { rates, sensors, webhooks, anchor, lags, partitions, rejected, readings } = status
  const sum = (of: 'unjudged' | 'unstored' | 'accepted'): number =>
    partitions.reduce((total, one) => total + one[of], 0)
  const idle = partitions.filter(({ worker }) => worker === null).length
  return (
    <>
      {idle > 0 && (
        <p class="notice error">
          Nobody works on {idle} of {partitions.length} partitions: is the pipeline running?
        </p>
      )}
      {webhooks.silent > 0 && (
        <p class="notice warn">
          Nobody answers for {webhooks.silent} of {webhooks.shards} shards of the webhooks: is the
          notifier running?
        </p>
      )}
      <div class="figures">
        <Figure name="Coming in" value={`${many(rates.raw)}/s`}>
          raw messages; {many(rates.accepted)} readings/s accepted
        </Figure>
        <Figure name="Sensors online" value={`${many(sensors.online)}`}>
          of {many(sensors.registered)}; {many(sensors.offline)} offline, {many(sensors.unheard)}{' '}
          never heard
        </Figure>
        <Figure name="Not judged yet" value={many(sum('unjudged'))}>
          raw messages that wait for the pipeline
        </Figure>
        <Figure name="Not stored yet" value={many(sum('unstored'))}>
          readings that wait for the database
        </Figure>
        <Figure name="Statistics behind" value={orNever(lags.statistics)}>
          log entries
        </Figure>
        <Figure name="Not anchored yet" value={many(anchor.not_anchored)}>
          readings;{' '}
          {anchor.last === null ? (
            'none is anchored'
          ) : (
            <>
              batch {anchor.last.batch} was, <When at={anchor.last.anchored_at} as="ago" />
            </>
          )}
        </Figure>
        <Figure name="Events not matched" value={orNever(lags.unmatched)}>
          with webhooks
        </Figure>
        <Figure
          name="Deliveries waiting"
          value={many(webhooks.pending)}
          isBad={webhooks.oldest_due_seconds > 60}
        >
          oldest due for {webhooks.oldest_due_seconds} s; {many(webhooks.in_breaker)} endpoints left
          alone, {many(webhooks.dead)} given up
        </Figure>
        <Figure name="Mails waiting" value={many(lags.mails)}>
          to be sent
        </Figure>
        <Figure name="Rejected" value={many(rejected.messages)}>
          kept; <a href="/operator?show=rejected">why</a>
        </Figure>
        <Figure name="The log" value={bytes(readings.bytes)}>
          {many(readings.messages)} messages; {many(sum('accepted'))} readings accepted ever
        </Figure>
      </div>
      <section class="card stack" aria-label="Partitions">
        <h2>Partitions</h2>
        <Table
          caption="The pipeline, partition by partition"
          columns={[
            { name: 'P', isNumber: true, cell: (one: PartitionStatus) => one.partition },
            { name: 'Raw', isNumber: true, cell: (one) => many(one.raw) },
            { name: 'Not judged', isNumber: true, cell: (one) => many(one.unjudged) },
            { name: 'Accepted', isNumber: true, cell: (one) => many(one.accepted) },
            { name: 'Not stored', isNumber: true, cell: (one) => many(one.unstored) },
            {
              name: 'Last commit',
              cell: (one) => (one.log_time === null ? '–' : <When at={one.log_time} as="ago" />),
            },
            { name: 'Worker', cell: (one) => <span class="mono">{one.worker ?? 'nobody'}</span> },
          ]}
          rows={partitions}
          keyOf={(one) => String(one.partition)}
        />
      </section>
    </>
  )
}

const bytes = (count: number): string => `${(count / 1024 / 1024).toFixed(1)} MiB`
