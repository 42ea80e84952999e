import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { Field } from '../../../forms/field.tsx'
import { Select } from '../../../forms/select.tsx'
import { useAction } from '../../../forms/use-action.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { format } from '../../../texts.ts'
import { SendAgain } from './send-again.tsx'
import { listTried, listWaiting } from './webhook-data.ts'
import type { Outcome, Tried, Waiting } from './webhook-types.ts'
import { attemptWords, isFailing, triggerWords } from './webhook-words.ts'

const { log: words } = accountTexts.webhooks
const { refresh } = accountTexts.settings.usage

type Shown = 'all' | 'pending' | 'dead' | Exclude<Outcome, 'dead'>
const shownKinds = [
  'all',
  'delivered',
  'retry',
  'pending',
  'dead',
  'disabled',
  'cancelled',
] as const satisfies readonly Shown[]
const choices = shownKinds.map((kind) => [kind, words.shown[kind]] as const)

type LogProps = {
  readonly webhook: string
  /** Counts the reader's actions: each loads the log again. */
  readonly changes: number
}

export function WebhookLog({ webhook, changes }: LogProps) {
  const [shown, setShown] = useState<Shown>('all')
  const [looks, setLooks] = useState(0)
  const [id, setId] = useState('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const period = { delivery: id.trim(), startTime: startOf(from), endTime: startOf(to, 1) }
  const isNarrowed = Object.values(period).some((value) => value !== '')
  const again = (): void => setLooks((count) => count + 1)
  const look = `${changes}.${looks}`
  return (
    <section class="card stack" aria-label={words.title}>
      <div class="row between">
        <h2>{words.title}</h2>
        <button type="button" class="quiet" onClick={again}>
          {refresh}
        </button>
      </div>
      <div class="filters">
        <Select label={words.show} value={shown} choices={choices} onValue={setShown} />
        {shown !== 'pending' && (
          <>
            <Field
              label={words.from}
              value={from}
              onValue={setFrom}
              input={{ type: 'date', max: to }}
            />
            <Field
              label={words.to}
              value={to}
              onValue={setTo}
              input={{ type: 'date', min: from }}
            />
            <Field
              label={words.deliveryId}
              value={id}
              onValue={setId}
              input={{ type: 'search', maxLength: 64, autoComplete: 'off' }}
            />
          </>
        )}
      </div>
      {shown === 'pending' || (shown === 'dead' && !isNarrowed) ? (
        <WaitingTable webhook={webhook} state={shown} look={look} onSent={again} />
      ) : (
        <TriedTable
          webhook={webhook}
          outcome={shown === 'all' ? '' : shown}
          narrowed={period}
          look={look}
          onSent={again}
        />
      )}
    </section>
  )
}

/** A day of the reader's, as ISO 8601; '' for none. @param later days after it */
function startOf(date: string, later = 0): string {
  const at = new Date(`${date}T00:00`)
  if (Number.isNaN(at.getTime())) return ''
  at.setDate(at.getDate() + later)
  return at.toISOString()
}

type Narrowed = Readonly<Record<'delivery' | 'startTime' | 'endTime', string>>

const linkTo = (webhook: string, delivery: string): string =>
  `/settings/webhooks/${webhook}?delivery=${encodeURIComponent(delivery)}`

type TriedProps = {
  readonly webhook: string
  readonly outcome: Outcome | ''
  readonly narrowed: Narrowed
  readonly look: string
  readonly onSent: () => void
}

function TriedTable({ webhook, outcome, narrowed, look, onSent }: TriedProps) {
  const answer = useAnswer(
    (signal) => listTried(webhook, { outcome, cursor: null, ...narrowed }, signal),
    [webhook, outcome, look, ...Object.values(narrowed)],
  )
  const [more, setMore] = useState<{ of: unknown; rows: readonly Tried[]; cursor: string | null }>()
  const action = useAction()
  if (answer.error !== undefined) return <Failed error={answer.error} retry={answer.again} />
  if (answer.value === undefined) return <Loading />
  const first = answer.value
  const later = more?.of === first ? more : undefined
  const rows = [...first.deliveries, ...(later?.rows ?? [])]
  const cursor = later === undefined ? first.next_cursor : later.cursor
  const goOn = (): Promise<boolean> =>
    action.run(async () => {
      const page = await listTried(webhook, { outcome, cursor, ...narrowed })
      const known = later?.rows ?? []
      setMore({ of: first, rows: [...known, ...page.deliveries], cursor: page.next_cursor })
    })
  return (
    <>
      {outcome === '' && isFailing(rows.map((row) => row.outcome)) && (
        <p class="notice warn">{words.allFailed}</p>
      )}
      {rows.length === 0 && <Nothing isAll={outcome === ''} />}
      {rows.length > 0 && (
        <Table
          caption={words.caption}
          columns={[
            {
              name: words.sent,
              cell: (row: Tried) => (
                <a href={linkTo(webhook, row.id)}>
                  <When at={row.at} />
                </a>
              ),
            },
            { name: words.event, cell: (row) => row.event },
            { name: words.outcome, cell: (row) => <Badge of={attemptWords(row)} /> },
            { name: words.answer, cell: (row) => row.response_status ?? row.error ?? '–' },
            { name: words.attempt, isNumber: true, cell: (row) => row.attempt },
            {
              name: words.took,
              isNumber: true,
              cell: (row) =>
                row.duration_ms === null ? '–' : `${format.number(row.duration_ms)} ms`,
            },
            { name: words.trigger, cell: (row) => triggerWords(row.trigger) },
          ]}
          rows={rows}
          keyOf={(row) => `${row.id} ${row.at} ${row.attempt}`}
        />
      )}
      {(outcome === 'dead' || outcome === 'retry') && (
        <SendAgain webhook={webhook} ids={rows.map(({ id }) => id)} onSent={onSent} />
      )}
      {action.error !== undefined && <Failed error={action.error} />}
      {cursor !== null && (
        <div class="actions">
          <button type="button" disabled={action.isBusy} onClick={() => void goOn()}>
            {words.older}
          </button>
        </div>
      )}
    </>
  )
}

const Nothing = ({ isAll }: { readonly isAll: boolean }) => (
  <p class="muted">{isAll ? words.none : words.noneSuch}</p>
)

type WaitingProps = {
  readonly webhook: string
  readonly state: 'pending' | 'dead'
  readonly look: string
  readonly onSent: () => void
}

function WaitingTable({ webhook, state, look, onSent }: WaitingProps) {
  const answer = useAnswer((signal) => listWaiting(webhook, state, signal), [webhook, state, look])
  if (answer.error !== undefined) return <Failed error={answer.error} retry={answer.again} />
  if (answer.value === undefined) return <Loading />
  const { deliveries, total, is_behind } = answer.value
  if (total === 0) return <p class="muted">{words.noneWaiting}</p>
  return (
    <>
      <p class="muted">{is_behind ? words.inAllAndMore(total) : words.inAll(total)}</p>
      <Table
        caption={state === 'pending' ? words.waitingCaption : words.deadCaption}
        columns={[
          {
            name: words.event,
            cell: (row: Waiting) => <a href={linkTo(webhook, row.id ?? row.key)}>{row.event}</a>,
          },
          { name: words.attempts, isNumber: true, cell: (row) => row.attempts },
          {
            name: words.next,
            cell: (row) => (row.due_at === null ? '–' : <When at={row.due_at} />),
          },
        ]}
        rows={deliveries}
        keyOf={(row) => row.key}
      />
      {state === 'dead' && (
        <SendAgain webhook={webhook} ids={deliveries.map(({ id }) => id)} onSent={onSent} />
      )}
    </>
  )
}
