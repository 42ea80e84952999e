import { useState } from 'preact/hooks'
import type { Rejected, ReplayCounts } from '../../../../operate/rejected-messages.ts'
import { accountTexts } from '../../account-texts.ts'
import { getJson, sendJson } from '../../data.ts'
import { Field } from '../../forms/field.tsx'
import { Select } from '../../forms/select.tsx'
import { useAction } from '../../forms/use-action.ts'
import { addressValue } from '../../parts/address-state.ts'
import { Copy } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { format } from '../../texts.ts'
import type { RejectedBody, RejectedPage } from './operator-data.ts'
import { adviceWords, againWords, reasons, reasonWords } from './rejected-words.ts'

const { refused: words } = accountTexts.operator
const atOnce = 100

/** What was refused, by reason; each with its bytes, and sent again once the cause is fixed. */
export function RejectedTab() {
  const [reason, setReason] = useState('')
  const [isSending, setSending] = useState(false)
  const [sensor, setSensor] = useState(() => addressValue('sensor'))
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
  const isPartial = reason === 'partial'
  const counts = page?.counts ?? {}
  const choices = [
    ['', words.any],
    ...reasons
      .filter((name) => name !== 'partial')
      .map((name) => [name, `${name} (${format.number(counts[name] ?? 0)})`] as const),
  ] as const
  return (
    <>
      <div class="filters">
        <Select
          label={words.show}
          value={isPartial ? 'partial' : 'refused'}
          choices={[
            ['refused', words.refused],
            ['partial', `${words.partial} (${format.number(counts['partial'] ?? 0)})`],
          ]}
          onValue={(kind) => setReason(kind === 'partial' ? 'partial' : '')}
        />
        {!isPartial && (
          <Select label={words.reason} value={reason} choices={choices} onValue={setReason} />
        )}
        <Field
          label={words.sensor}
          value={sensor}
          onValue={setSensor}
          input={{ type: 'search', placeholder: words.sensorHint }}
        />
        <button type="button" onClick={answer.again}>
          {words.refresh}
        </button>
      </div>
      {reason !== '' && (
        <>
          <p class="muted">{isPartial ? words.partialWords : reasonWords(reason)}</p>
          <Advice reason={reason} />
        </>
      )}
      <div role="status">{outcome !== '' && <p class="notice ok">{outcome}</p>}</div>
      {action.error !== undefined && <Failed error={action.error} />}
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {page === undefined && answer.error === undefined && <Loading />}
      {page !== undefined && page.rejected.length === 0 && <p class="card muted">{words.none}</p>}
      {page !== undefined && page.rejected.length > 0 && (
        <section class="card stack" aria-label={words.title}>
          <div class="row between">
            <p class="muted">{words.newest(page.rejected.length)}</p>
            <button type="button" disabled={action.isBusy} onClick={() => setSending(true)}>
              {words.again(page.rejected.length)}
            </button>
          </div>
          <Table
            caption={words.caption}
            columns={[
              { name: words.arrived, cell: (row: Rejected) => <When at={row.arrived} /> },
              { name: words.reason, cell: (row) => row.reason },
              { name: words.sensor, cell: (row) => <span class="mono">{row.sensor}</span> },
              { name: words.why, cell: (row) => row.why || '–' },
              { name: words.bytes, isNumber: true, cell: (row) => format.number(row.length) },
              {
                name: words.content,
                cell: (row) => (
                  <button
                    type="button"
                    aria-label={words.showOf(row.id)}
                    onClick={() => setShown(row)}
                  >
                    {words.show}
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
        title={words.again(page?.rejected.length ?? 0)}
        isOpen={isSending}
        close={() => setSending(false)}
      >
        <div class="stack">
          <p>{words.sure(page?.rejected.length ?? 0)}</p>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={action.isBusy}
              onClick={() => {
                setSending(false)
                void replay((page?.rejected ?? []).map(({ id }) => id))
              }}
            >
              {words.yes}
            </button>
          </div>
        </div>
      </Dialog>
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

/** In words to send to the sensor’s owner. */
function Advice({ reason }: { readonly reason: string }) {
  const text = adviceWords(reason)
  if (text === words.unknown) return <p class="muted">{text}</p>
  return (
    <section class="notice row between" aria-label={words.tell}>
      <p>
        <b>{words.tell}:</b> {text}
      </p>
      <Copy text={text} />
    </section>
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
      <Advice reason={row.reason} />
      <dl class="facts">
        <dt>{words.id}</dt>
        <dd class="mono">{row.id}</dd>
        <dt>{words.sensor}</dt>
        <dd class="mono">{row.sensor}</dd>
        <dt>{words.arrived}</dt>
        <dd>
          <When at={row.arrived} />
        </dd>
        {row.why !== '' && (
          <>
            <dt>{words.why}</dt>
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
            {[
              words.length(row.length),
              content.truncated ? words.cut(content.kept_bytes) : '',
              content.body_encoding === 'base64' ? words.base64 : '',
            ]
              .filter((part) => part !== '')
              .join(', ')}
          </p>
          <pre class="raw" tabIndex={0} aria-label={words.content}>
            {content.body === '' ? words.empty : content.body}
          </pre>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={isBusy || content.truncated}
              onClick={replay}
            >
              {words.againOne}
            </button>
          </div>
        </>
      )}
    </div>
  )
}
