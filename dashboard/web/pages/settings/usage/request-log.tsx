import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { getJson } from '../../../data.ts'
import { Select } from '../../../forms/select.tsx'
import { Badge } from '../../../parts/badge.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { format } from '../../../texts.ts'
import type { KeyUsage } from './key-usage.ts'

const { usage: words } = accountTexts.settings

type Request = {
  readonly at: string
  /** Its id. */
  readonly key: string
  readonly method: string
  readonly target: string
  readonly status: number
  readonly ms: number
  readonly code?: string
}
type Log = {
  readonly counts: Readonly<Record<'ok' | 'refused' | 'failed', number>>
  readonly left_out: number
  /** Of the wanted kind. */
  readonly total: number
  readonly requests: readonly Request[]
}

const outcomes = ['', 'ok', 'refused', 'failed'] as const
const atOnce = 100

const kindOf = (status: number): string => (status >= 500 ? 'error' : status >= 400 ? 'warn' : 'ok')

type LogProps = { readonly keys: readonly KeyUsage[]; readonly look: number }

/** What the account's programs asked, and what they were answered. */
export function RequestLog({ keys, look }: LogProps) {
  const [outcome, setOutcome] = useState<(typeof outcomes)[number]>('')
  const [key, setKey] = useState('')
  const [limit, setLimit] = useState(atOnce)
  const query = new URLSearchParams({ outcome, key, limit: String(limit) })
  const answer = useAnswer(
    (signal) => getJson<Log>(`/data/requests?${query}`, { signal }),
    [query.toString(), look],
  )
  const log = answer.value
  return (
    <section class="card stack">
      <h2>{words.log}</h2>
      <p class="muted">{words.logWords}</p>
      <div class="filters">
        <Select
          label={words.outcome}
          value={outcome}
          choices={outcomes.map((name) => [name, words.outcomes[name === '' ? 'any' : name]])}
          onValue={setOutcome}
        />
        <Select
          label={words.key}
          value={key}
          choices={[['', words.anyKey], ...keys.map(({ id, name }) => [id, name] as const)]}
          onValue={setKey}
        />
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {log === undefined && answer.error === undefined && <Loading />}
      {log !== undefined && (
        <p role="status">
          {words.counts(log.counts.ok, log.counts.refused, log.counts.failed)}
          {log.left_out > 0 && <> · {words.leftOut(log.left_out)}</>}
        </p>
      )}
      {log !== undefined && log.requests.length === 0 && (
        <p class="muted">
          {outcome === '' && key === '' ? words.none : words.noneSuch}{' '}
          <a href="/developers">{words.toExamples}</a>
        </p>
      )}
      {log !== undefined && log.requests.length > 0 && (
        <>
          <Table
            caption={words.log}
            columns={[
              { name: words.time, cell: (row: Request) => <When at={row.at} /> },
              {
                name: words.outcome,
                cell: (row) => (
                  <Badge of={{ label: String(row.status), kind: kindOf(row.status) }} />
                ),
              },
              {
                name: words.request,
                cell: (row) => (
                  <>
                    <span class="mono" title={row.target}>
                      {row.method} {row.target}
                    </span>
                    {row.code !== undefined && (
                      <>
                        {' '}
                        <code>{row.code}</code>
                      </>
                    )}
                  </>
                ),
              },
              {
                name: words.key,
                cell: (row) => keys.find(({ id }) => id === row.key)?.name ?? words.deletedKey,
              },
              { name: words.took, isNumber: true, cell: (row) => `${format.number(row.ms)} ms` },
            ]}
            rows={log.requests}
            keyOf={(row) => `${row.at} ${row.key} ${row.target} ${row.ms}`}
          />
          {log.total > log.requests.length && (
            <div class="actions">
              <span class="muted">{words.shown(log.requests.length, log.total)}</span>
              {limit < 1_000 && (
                <button type="button" onClick={() => setLimit(Math.min(1_000, limit + 200))}>
                  {words.more}
                </button>
              )}
            </div>
          )}
        </>
      )}
    </section>
  )
}
