import { useState } from 'preact/hooks'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { Badge } from './badge.tsx'
import { Choice } from './field.tsx'
import { useAction } from './use-action.ts'
import { listTried, listWaiting } from './webhook-data.ts'
import type { Outcome, Tried, Waiting } from './webhook-types.ts'
import { attemptWords, isFailing } from './webhook-words.ts'

type Shown = 'all' | 'pending' | 'dead' | Exclude<Outcome, 'dead'>
const choices: readonly (readonly [Shown, string])[] = [
  ['all', 'every attempt'],
  ['delivered', 'delivered'],
  ['retry', 'failed, tried again later'],
  ['pending', 'waiting now'],
  ['dead', 'given up'],
  ['disabled', 'disabled the webhook'],
  ['cancelled', 'cancelled'],
]

type LogProps = {
  readonly webhook: string
  /** Counts the reader's actions: each loads the log again. */
  readonly changes: number
}

export function WebhookLog({ webhook, changes }: LogProps) {
  const [shown, setShown] = useState<Shown>('all')
  const [looks, setLooks] = useState(0)
  const look = `${changes}.${looks}`
  return (
    <section class="card stack" aria-label="Deliveries">
      <div class="row between">
        <h2>Deliveries</h2>
        <button type="button" class="quiet" onClick={() => setLooks((count) => count + 1)}>
          Look again
        </button>
      </div>
      <div class="filters">
        <Choice label="Show" value={shown} choices={choices} onValue={setShown} />
      </div>
      {shown === 'pending' || shown === 'dead' ? (
        <WaitingTable webhook={webhook} state={shown} look={look} />
      ) : (
        <TriedTable webhook={webhook} outcome={shown === 'all' ? '' : shown} look={look} />
      )}
    </section>
  )
}

const linkTo = (webhook: string, delivery: string): string =>
  `/settings/webhooks/${webhook}?delivery=${encodeURIComponent(delivery)}`

type TriedProps = {
  readonly webhook: string
  readonly outcome: Outcome | ''
  readonly look: string
}

function TriedTable({ webhook, outcome, look }: TriedProps) {
  const answer = useAnswer(
    (signal) => listTried(webhook, { outcome, cursor: null }, signal),
    [webhook, outcome, look],
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
      const page = await listTried(webhook, { outcome, cursor })
      const known = later?.rows ?? []
      setMore({ of: first, rows: [...known, ...page.deliveries], cursor: page.next_cursor })
    })
  return (
    <>
      {outcome === '' && isFailing(rows.map((row) => row.outcome)) && (
        <p class="notice warn">
          The newest attempts all failed. After five failures in a row the address is left alone,
          for 30 seconds at first and at most ten minutes; what waits meanwhile loses no attempt.
        </p>
      )}
      {rows.length === 0 && <Nothing isAll={outcome === ''} />}
      {rows.length > 0 && (
        <Table
          caption="Attempts, newest first"
          columns={[
            {
              name: 'Sent',
              cell: (row: Tried) => (
                <a href={linkTo(webhook, row.id)}>
                  <When at={row.at} />
                </a>
              ),
            },
            { name: 'Event', cell: (row) => row.event },
            { name: 'Outcome', cell: (row) => <Badge of={attemptWords(row)} /> },
            { name: 'Answer', cell: (row) => row.response_status ?? row.error ?? '–' },
            { name: 'Attempt', isNumber: true, cell: (row) => row.attempt },
            {
              name: 'Took',
              isNumber: true,
              cell: (row) => (row.duration_ms === null ? '–' : `${Math.round(row.duration_ms)} ms`),
            },
            { name: 'Why', cell: (row) => row.trigger },
          ]}
          rows={rows}
          keyOf={(row) => `${row.id} ${row.at} ${row.attempt}`}
        />
      )}
      {action.error !== undefined && <Failed error={action.error} />}
      {cursor !== null && (
        <div class="actions">
          <button type="button" disabled={action.isBusy} onClick={() => void goOn()}>
            Older
          </button>
        </div>
      )}
    </>
  )
}

const Nothing = ({ isAll }: { readonly isAll: boolean }) => (
  <p class="muted">
    {isAll
      ? 'Nothing was sent yet. “Send a test” shows at once what your receiver gets.'
      : 'None of this kind among those looked at.'}
  </p>
)

type WaitingProps = {
  readonly webhook: string
  readonly state: 'pending' | 'dead'
  readonly look: string
}

function WaitingTable({ webhook, state, look }: WaitingProps) {
  const answer = useAnswer((signal) => listWaiting(webhook, state, signal), [webhook, state, look])
  if (answer.error !== undefined) return <Failed error={answer.error} retry={answer.again} />
  if (answer.value === undefined) return <Loading />
  const { deliveries, total, is_behind } = answer.value
  if (total === 0) return <p class="muted">None.</p>
  return (
    <>
      <p class="muted">
        {total.toLocaleString()} in all{is_behind && ', and more that is not queued yet'}.
      </p>
      <Table
        caption={state === 'pending' ? 'What waits, soonest first' : 'What was given up'}
        columns={[
          {
            name: 'Event',
            cell: (row: Waiting) => <a href={linkTo(webhook, row.id ?? row.key)}>{row.event}</a>,
          },
          { name: 'Attempts', isNumber: true, cell: (row) => row.attempts },
          { name: 'Next', cell: (row) => (row.due_at === null ? '–' : <When at={row.due_at} />) },
        ]}
        rows={deliveries}
        keyOf={(row) => row.key}
      />
    </>
  )
}
