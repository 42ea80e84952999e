import { useState } from 'preact/hooks'
import type { Again, Rejected } from '../../../../operate/rejected-messages.ts'
import { getJson, sendJson } from '../../data.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAsked } from '../../parts/use-asked.ts'
import { When } from '../../parts/when.tsx'
import { Choice, Field } from '../settings/field.tsx'
import { useAction } from '../settings/use-action.ts'
import type { RejectedBody, RejectedPage } from './operator-data.ts'
import { againWords, reasons, reasonWords } from './rejected-words.ts'

const atOnce = 100

/** What was refused, by reason; each with its bytes, and sent again once the cause is mended. */
export function RejectedTab() {
  const [reason, setReason] = useState('')
  const [sensor, setSensor] = useState('')
  const [shown, setShown] = useState<Rejected>()
  const [told, setTold] = useState('')
  const query = new URLSearchParams({ reason, sensor: sensor.trim(), limit: String(atOnce) })
  const asked = useAsked(
    (signal) => getJson<RejectedPage>(`/operator/api/rejected?${query}`, { signal }),
    [query.toString()],
  )
  const action = useAction()
  const replay = (ids: readonly string[]): Promise<boolean> =>
    action.run(async () => {
      setTold('')
      setTold(againWords(await sendJson<Again>('POST', '/operator/api/replay', { ids })))
      setShown(undefined)
      asked.again()
    })
  const page = asked.value
  const counts = page?.counts ?? {}
  const choices = [
    ['', 'any reason'],
    ...reasons.map((one) => [one, `${one} (${(counts[one] ?? 0).toLocaleString()})`] as const),
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
        <button type="button" onClick={asked.again}>
          Look again
        </button>
      </div>
      {reason !== '' && <p class="muted">{reasonWords(reason)}</p>}
      <div role="status">{told !== '' && <p class="notice ok">{told}</p>}</div>
      {action.error !== undefined && <Failed error={action.error} />}
      {asked.error !== undefined && <Failed error={asked.error} retry={asked.again} />}
      {page === undefined && asked.error === undefined && <Loading />}
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
              { name: 'Arrived', cell: (one: Rejected) => <When at={one.arrived} /> },
              { name: 'Reason', cell: (one) => one.reason },
              { name: 'Sensor', cell: (one) => <span class="mono">{one.sensor}</span> },
              { name: 'Why', cell: (one) => one.why || '–' },
              { name: 'Bytes', isNumber: true, cell: (one) => one.length.toLocaleString() },
              {
                name: 'Content',
                cell: (one) => (
                  <button type="button" aria-label={`Show ${one.id}`} onClick={() => setShown(one)}>
                    Show
                  </button>
                ),
              },
            ]}
            rows={page.rejected}
            keyOf={(one) => one.id}
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

/** The bytes are others’: shown as text, whatever they say. */
function Content({ of: one, isBusy, replay }: ContentProps) {
  const asked = useAsked(
    async (signal) => {
      const path = `/operator/api/rejected/${encodeURIComponent(one.id)}`
      return (await getJson<{ rejected: RejectedBody }>(path, { signal })).rejected
    },
    [one.id],
  )
  const found = asked.value
  return (
    <div class="stack">
      <p>{reasonWords(one.reason)}</p>
      <dl class="facts">
        <dt>Id</dt>
        <dd class="mono">{one.id}</dd>
        <dt>Sensor</dt>
        <dd class="mono">{one.sensor}</dd>
        <dt>Arrived</dt>
        <dd>
          <When at={one.arrived} />
        </dd>
        {one.why !== '' && (
          <>
            <dt>Why</dt>
            <dd>{one.why}</dd>
          </>
        )}
        <dt>SHA-256</dt>
        <dd class="mono">{one.sha256}</dd>
      </dl>
      {asked.error !== undefined && <Failed error={asked.error} retry={asked.again} />}
      {found === undefined && asked.error === undefined && <Loading />}
      {found !== undefined && (
        <>
          <p class="muted">
            {one.length.toLocaleString()} bytes
            {found.truncated &&
              `, of which the first ${found.kept_bytes.toLocaleString()} are kept`}
            {found.body_encoding === 'base64' && ', no text: shown in base 64'}
          </p>
          <pre class="raw" tabIndex={0} aria-label="Content">
            {found.body === '' ? '(empty)' : found.body}
          </pre>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={isBusy || found.truncated}
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
