import { useState } from 'preact/hooks'
import type { Rejected, ReplayCounts } from '../../../../operate/rejected-messages.ts'
import { getJson, sendJson } from '../../data.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { Choice, Field } from '../settings/field.tsx'
import { useAction } from '../settings/use-action.ts'
import type { RejectedBody, RejectedPage } from './operator-data.ts'
import { againWords, reasons, reasonWords } from './rejected-words.ts'

const atOnce = 100

/** What was refused, by reason; each with its bytes, and sent again once the cause is fixed. */
export function RejectedTab() {
  const [reason, setReason] = useState('')
  const [sensor, setSensor] = useState('')
  const [shown, setShown] = useState<Rejected>()
  const [outcome, setOutcome] = useState('')
  const query = new URLSearchParams({ reason, sensor: sensor.trim(), limit: String(atOnce) })
  const answer = useAnswer(
    (signal) => getJson<RejectedPage>(`/operator/api/rejected?${query}`, { signal }),
    [query.toString()],
  )
  const action = useAction()
  const replay = (ids: readonly string[]): Promise<boolean> =>
    action.run(async () => {
      setOutcome('')
      setOutcome(againWords(await sendJson<ReplayCounts>('POST', '/operator/api/replay', { ids })))
      setShown(undefined)
      answer.again()
    })
  const page = answer.value
  const counts = page?.counts ?? {}
  const choices = [
    ['', 'any reason'],
    ...reasons.map((name) => [name, `${name} (${(counts[name] ?? 0).toLocaleString()})`] as const),
  ] as const
  return (
    <>
      <div class="filters">
        <Choice label="Reason" value={reason} choices={choices} onValue={setReason} />
        <Field
          label="Sensor"
          value={sensor}
          onValue={setSensor}
          input={{ type: 'search', placeholder: 'its whole id' }}
        />
        <button type="button" onClick={answer.again}>
          Look again
        </button>
      </div>
      {reason !== '' && <p class="muted">{reasonWords(reason)}</p>}
      <div role="status">{outcome !== '' && <p class="notice ok">{outcome}</p>}</div>
      {action.error !== undefined && <Failed error={action.error} />}
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {page === undefined && answer.error === undefined && <Loading />}
      {page !== undefined && page.rejected.length === 0 && (
        <p class="card muted">Nothing of this kind is kept.</p>
      )}
      {page !== undefined && page.rejected.length > 0 && (
        <section class="card stack" aria-label="Rejected messages">
          <div class="row between">
            <p class="muted">The newest {page.rejected.length}.</p>
            <button
              type="button"
              disabled={action.isBusy}
              onClick={() => void replay(page.rejected.map(({ id }) => id))}
            >
              Send these {page.rejected.length} again
            </button>
          </div>
          <Table
            caption="Rejected messages, newest first"
            columns={[
              { name: 'Arrived', cell: (row: Rejected) => <When at={row.arrived} /> },
              { name: 'Reason', cell: (row) => row.reason },
              { name: 'Sensor', cell: (row) => <span class="mono">{row.sensor}</span> },
              { name: 'Why', cell: (row) => row.why || '–' },
              { name: 'Bytes', isNumber: true, cell: (row) => row.length.toLocaleString() },
              {
                name: 'Content',
                cell: (row) => (
                  <button type="button" aria-label={`Show ${row.id}`} onClick={() => setShown(row)}>
                    Show
                  </button>
                ),
              },
            ]}
            rows={page.rejected}
            keyOf={(row) => row.id}
          />
        </section>
      )}
      <Dialog
        title={shown?.reason ?? ''}
        isOpen={shown !== undefined}
        close={() => setShown(undefined)}
      >
        {shown !== undefined && (
          <Content of={shown} isBusy={action.isBusy} replay={() => void replay([shown.id])} />
        )}
      </Dialog>
    </>
  )
}

type ContentProps = {
  readonly of: Rejected
  readonly isBusy: boolean
  readonly replay: () => void
}

/** The bytes are others’: shown only as text. */
function Content({ of: row, isBusy, replay }: ContentProps) {
  const answer = useAnswer(
    async (signal) => {
      const path = `/operator/api/rejected/${encodeURIComponent(row.id)}`
      return (await getJson<{ rejected: RejectedBody }>(path, { signal })).rejected
    },
    [row.id],
  )
  const content = answer.value
  return (
    <div class="stack">
      <p>{reasonWords(row.reason)}</p>
      <dl class="facts">
        <dt>Id</dt>
        <dd class="mono">{row.id}</dd>
        <dt>Sensor</dt>
        <dd class="mono">{row.sensor}</dd>
        <dt>Arrived</dt>
        <dd>
          <When at={row.arrived} />
        </dd>
        {row.why !== '' && (
          <>
            <dt>Why</dt>
            <dd>{row.why}</dd>
          </>
        )}
        <dt>SHA-256</dt>
        <dd class="mono">{row.sha256}</dd>
      </dl>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {content === undefined && answer.error === undefined && <Loading />}
      {content !== undefined && (
        <>
          <p class="muted">
            {row.length.toLocaleString()} bytes
            {content.truncated &&
              `, of which the first ${content.kept_bytes.toLocaleString()} are kept`}
            {content.body_encoding === 'base64' && ', no text: shown in base 64'}
          </p>
          <pre class="raw" tabIndex={0} aria-label="Content">
            {content.body === '' ? '(empty)' : content.body}
          </pre>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={isBusy || content.truncated}
              onClick={replay}
            >
              Send it again
            </button>
          </div>
        </>
      )}
    </div>
  )
}
