import { getJson } from '../../data.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { type AuditEvent, auditDetails, auditWords } from './audit-words.ts'

/** What happened to the account’s security, newest first. */
export function AuditLog() {
  const answer = useAnswer(
    async (signal) =>
      (await getJson<{ events: readonly AuditEvent[] }>('/audit-log', { signal })).events,
    [],
  )
  const events = answer.value ?? []
  return (
    <section class="card stack" aria-label="Security events">
      <div class="row between">
        <h2>Security events</h2>
        <button type="button" class="quiet" onClick={answer.again}>
          Look again
        </button>
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && events.length === 0 && <p class="muted">Nothing yet.</p>}
      {events.length > 0 && (
        <Table
          caption="Security events of the last 90 days, newest first"
          columns={[
            { name: 'When', cell: (row: Row) => <When at={row.at} /> },
            { name: 'What', cell: auditWords },
            { name: 'Details', cell: auditDetails },
            { name: 'From', cell: (row) => <span class="mono number">{row.address ?? '–'}</span> },
          ]}
          rows={events.slice(0, 200).map((event, place) => ({ ...event, place }))}
          keyOf={(row) => String(events.length - row.place)}
        />
      )}
    </section>
  )
}

type Row = AuditEvent & { readonly place: number }
