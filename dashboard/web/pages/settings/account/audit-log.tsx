import { accountTexts } from '../../../account-texts.ts'
import { getJson } from '../../../data.ts'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { type AuditEvent, auditDetails, auditWords } from './audit-words.ts'

const { account: words, usage } = accountTexts.settings

/** What happened to the account’s security, newest first. */
export function AuditLog() {
  const answer = useAnswer(
    async (signal) =>
      (await getJson<{ events: readonly AuditEvent[] }>('/audit-log', { signal })).events,
    [],
  )
  const events = answer.value ?? []
  return (
    <section class="card stack" aria-label={words.events}>
      <div class="row between">
        <h2>{words.events}</h2>
        <button type="button" class="quiet" onClick={answer.again}>
          {usage.refresh}
        </button>
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && events.length === 0 && <p class="muted">{words.noEvents}</p>}
      {events.length > 0 && (
        <Table
          caption={words.eventsCaption}
          columns={[
            { name: words.when, cell: (row: Row) => <When at={row.at} /> },
            { name: words.what, cell: auditWords },
            { name: words.details, cell: auditDetails },
            {
              name: words.from,
              cell: (row) => <span class="mono number">{row.address ?? '–'}</span>,
            },
          ]}
          rows={events.slice(0, 200).map((event, place) => ({ ...event, place }))}
          keyOf={(row) => String(events.length - row.place)}
        />
      )}
    </section>
  )
}

type Row = AuditEvent & { readonly place: number }
