import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PartitionStatus } from '../../../../operate/status-report.ts'
import { getJson } from '../../data.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import type { Status } from './operator-data.ts'

const lookAgainMs = 5_000

/** Rates, and how far each stage is behind the previous one. */
export function StatusTab() {
  const answer = useAnswer((signal) => getJson<Status>('/operator/api/status', { signal }), [])
  const { again, isAsking } = answer
  useEffect(() => {
    if (isAsking) return undefined
    const timer = setTimeout(() => {
      if (!document.hidden) again()
    }, lookAgainMs)
    return () => clearTimeout(timer)
  }, [isAsking, again])
  return (
    <>
      {answer.error !== undefined && <Failed error={answer.error} retry={again} />}
      {answer.value === undefined && answer.error === undefined && (
        <Loading what="Measuring rates for a second…" />
      )}
      {answer.value !== undefined && <Shown status={answer.value} />}
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
  const sum = (count: 'unjudged' | 'unstored' | 'accepted'): number =>
    partitions.reduce((total, row) => total + row[count], 0)
  const idle = partitions.filter(({ worker }) => worker === null).length
  return (
    <>
      {idle > 0 && (
        <p class="notice error">
          {idle} of {partitions.length} partitions have no worker: is the pipeline running?
        </p>
      )}
      {webhooks.silent > 0 && (
        <p class="notice warn">
          {webhooks.silent} of {webhooks.shards} shards of the webhooks do not answer: is the
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
            { name: 'P', isNumber: true, cell: (row: PartitionStatus) => row.partition },
            { name: 'Raw', isNumber: true, cell: (row) => many(row.raw) },
            { name: 'Not judged', isNumber: true, cell: (row) => many(row.unjudged) },
            { name: 'Accepted', isNumber: true, cell: (row) => many(row.accepted) },
            { name: 'Not stored', isNumber: true, cell: (row) => many(row.unstored) },
            {
              name: 'Last commit',
              cell: (row) => (row.log_time === null ? '–' : <When at={row.log_time} as="ago" />),
            },
            { name: 'Worker', cell: (row) => <span class="mono">{row.worker ?? 'none'}</span> },
          ]}
          rows={partitions}
          keyOf={(row) => String(row.partition)}
        />
      </section>
    </>
  )
}

const bytes = (count: number): string => `${(count / 1024 / 1024).toFixed(1)} MiB`
