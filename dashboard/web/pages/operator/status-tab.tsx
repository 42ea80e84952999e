import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PartitionStatus } from '../../../../operate/status-report.ts'
import { accountTexts } from '../../account-texts.ts'
import { getJson } from '../../data.ts'
import { Filled } from '../../parts/filled.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { format } from '../../texts.ts'
import { alertsOf } from './operator-alerts.ts'
import type { Status } from './operator-data.ts'

const { alerts, status: words } = accountTexts.operator
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
        <Loading what={words.measuring} />
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

const many = (value: number): string => format.number(value)
const orNever = (value: number | null): string => (value === null ? words.neverRan : many(value))

type LastProps = { readonly last: Status['anchor']['last'] }

const NotAnchored = ({ last }: LastProps) =>
  last === null ? (
    <>{words.notAnchoredWords}</>
  ) : (
    <Filled
      text={words.notAnchoredSince}
      parts={{
        batch: () => many(last.batch),
        when: () => <When at={last.anchored_at} as="ago" />,
      }}
    />
  )

function Shown({ status }: { readonly status: Status }) {
  const { rates, sensors, webhooks, anchor, lags, partitions, rejected, readings } = status
  const sum = (count: 'unjudged' | 'unstored' | 'accepted'): number =>
    partitions.reduce((total, row) => total + row[count], 0)
  return (
    <>
      <Alerts status={status} />
      <div class="figures">
        <Figure name={words.incoming} value={words.perSecond(rates.raw)}>
          {words.incomingWords(rates.accepted)}
        </Figure>
        <Figure name={words.online} value={many(sensors.online)}>
          {words.onlineWords(sensors.registered, sensors.offline, sensors.unheard)}
        </Figure>
        <Figure name={words.unjudged} value={many(sum('unjudged'))}>
          {words.unjudgedWords}
        </Figure>
        <Figure name={words.unstored} value={many(sum('unstored'))}>
          {words.unstoredWords}
        </Figure>
        <Figure name={words.statistics} value={orNever(lags.statistics)}>
          {words.statisticsWords}
        </Figure>
        <Figure name={words.notAnchored} value={many(anchor.not_anchored)}>
          <NotAnchored last={anchor.last} />
        </Figure>
        <Figure name={words.unmatched} value={orNever(lags.unmatched)}>
          {words.unmatchedWords}
        </Figure>
        <Figure
          name={words.deliveries}
          value={many(webhooks.pending)}
          isBad={webhooks.oldest_due_seconds > 60}
        >
          {words.deliveriesWords(webhooks.oldest_due_seconds, webhooks.in_breaker, webhooks.dead)}
        </Figure>
        <Figure name={words.mails} value={many(lags.mails)}>
          {words.mailsWords}
        </Figure>
        <Figure name={words.refused} value={many(rejected.messages)}>
          <Filled
            text={words.refusedWords}
            parts={{ why: (label) => <a href="/operator?show=rejected">{label}</a> }}
          />
        </Figure>
        <Figure name={words.log} value={words.mib(readings.bytes)}>
          {words.logWords(readings.messages, sum('accepted'))}
        </Figure>
      </div>
      <section class="card stack" aria-label={words.partitions}>
        <h2>{words.partitions}</h2>
        <Table
          caption={words.caption}
          columns={[
            {
              name: words.partition,
              isNumber: true,
              cell: (row: PartitionStatus) => row.partition,
            },
            { name: words.raw, isNumber: true, cell: (row) => many(row.raw) },
            { name: words.unjudged, isNumber: true, cell: (row) => many(row.unjudged) },
            { name: words.accepted, isNumber: true, cell: (row) => many(row.accepted) },
            { name: words.notStored, isNumber: true, cell: (row) => many(row.unstored) },
            {
              name: words.lastCommit,
              cell: (row) => (row.log_time === null ? '–' : <When at={row.log_time} as="ago" />),
            },
            {
              name: words.worker,
              cell: (row) => <span class="mono">{row.worker ?? words.none}</span>,
            },
          ]}
          rows={partitions}
          keyOf={(row) => String(row.partition)}
        />
      </section>
    </>
  )
}

function Alerts({ status }: { readonly status: Status }) {
  const shown = alertsOf(status)
  if (shown.length === 0) return <p class="notice ok">{alerts.none}</p>
  return (
    <section class="stack" aria-label={alerts.title}>
      {shown.map(({ kind, isBad, count, of, words: own }) => (
        <p key={`${kind} ${own}`} class={`notice ${isBad ? 'error' : 'warn'}`}>
          {kind === 'anchor' ? alerts.anchor(own ?? '') : alerts[kind](count, of)}
        </p>
      ))}
    </section>
  )
}
