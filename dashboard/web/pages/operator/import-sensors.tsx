import { useState } from 'preact/hooks'
import { accountTexts } from '../../account-texts.ts'
import { sendJson } from '../../data.ts'
import { useAction } from '../../forms/use-action.ts'
import { Badge } from '../../parts/badge.tsx'
import { exampleSensor } from '../../parts/example-sensor.ts'
import { Failed } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { format } from '../../texts.ts'

const { importing: words } = accountTexts.operator

const faultWords: Readonly<Record<Fault['code'], (given: string) => string>> = words.rowFaults
const whats: Readonly<Record<string, string>> = words.whats

type Outcome = 'new' | 'returns' | 'changed' | 'unchanged'
type Row = { readonly id: string; readonly outcome: Outcome; readonly what: readonly string[] }
type Fault = {
  readonly line: number
  readonly code: keyof typeof words.rowFaults
  readonly given: string
}
type Answer = {
  readonly done: boolean
  readonly total: number
  readonly counts: Readonly<Record<Outcome, number>>
  readonly rows: readonly Row[]
  readonly fault_count: number
  readonly faults: readonly Fault[]
  readonly keys?: readonly { readonly id: string; readonly key: string }[]
}

/** As many bytes as the server takes. */
const longestFile = 1_000_000
const kinds = { new: 'ok', returns: 'ok', changed: 'warn', unchanged: '' } as const

const exampleList = (): string => {
  const { id, area, lat, lon, address } = exampleSensor.value
  return `id,area,lat,lon,address,cadence\n${id},${area},${lat},${lon},"${address}, ${area}",5m`
}

/** A list of sensors: first what it would change, then the same list again to do it. */
export function ImportSensors({ onDone }: { readonly onDone: () => void }) {
  const [csv, setCsv] = useState('')
  const [name, setName] = useState('')
  const [isTooLong, setTooLong] = useState(false)
  const [withKeys, setWithKeys] = useState(true)
  const [answer, setAnswer] = useState<Answer>()
  const action = useAction()
  const send = (preview: boolean, text = csv): Promise<boolean> =>
    action.run(async () => {
      const body = { csv: text, preview, keys: withKeys }
      setAnswer(await sendJson<Answer>('POST', '/operator/api/sensors/import', body))
      if (!preview) onDone()
    })
  const choose = async (file: File | undefined): Promise<void> => {
    setAnswer(undefined)
    setTooLong(false)
    if (file === undefined) return
    setName(file.name)
    if (file.size > longestFile) {
      setTooLong(true)
      return
    }
    const text = await file.text()
    setCsv(text)
    await send(true, text)
  }
  return (
    <div class="stack">
      <p>{words.intro}</p>
      <pre tabIndex={0} aria-label={words.example}>
        <code>{exampleList()}</code>
      </pre>
      <label class="field">
        {words.file}
        <input
          type="file"
          accept=".csv,text/csv,text/plain"
          onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
        />
      </label>
      {isTooLong && <p class="notice error">{words.tooLong}</p>}
      {action.error !== undefined && <Failed error={action.error} />}
      {action.isBusy && <p role="status">{words.checking}</p>}
      {answer !== undefined && !answer.done && <Preview answer={answer} name={name} />}
      {answer !== undefined && !answer.done && answer.fault_count === 0 && (
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={withKeys}
              onChange={({ currentTarget }) => setWithKeys(currentTarget.checked)}
            />
            <span>{words.withKeys}</span>
          </label>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={action.isBusy}
              onClick={() => void send(false)}
            >
              {words.doIt(answer.total - answer.counts.unchanged)}
            </button>
          </div>
        </>
      )}
      {answer?.done === true && <Done answer={answer} />}
    </div>
  )
}

const Preview = ({ answer, name }: { readonly answer: Answer; readonly name: string }) => (
  <section class="stack">
    <h3>{words.preview}</h3>
    <p role="status">
      {name}: {words.counts(answer.counts)}
    </p>
    {answer.fault_count > 0 && (
      <div class="notice error">
        <p>{words.faults(answer.fault_count)}</p>
        <ul>
          {answer.faults.map(({ line, code, given }) => (
            <li key={`${line} ${code} ${given}`}>
              {line > 0 && words.line(format.number(line))} {faultWords[code](given)}
            </li>
          ))}
        </ul>
      </div>
    )}
    <Table
      caption={words.preview}
      columns={[
        { name: words.id, cell: (row: Row) => <span class="mono">{row.id}</span> },
        {
          name: words.outcome,
          cell: (row) => (
            <Badge of={{ label: words.outcomes[row.outcome], kind: kinds[row.outcome] }} />
          ),
        },
        {
          name: words.what,
          cell: (row) => row.what.map((name) => whats[name] ?? name).join(', ') || '–',
        },
      ]}
      rows={answer.rows}
      keyOf={(row) => row.id}
    />
    {answer.total > answer.rows.length && (
      <p class="muted">{words.more(answer.total - answer.rows.length)}</p>
    )}
  </section>
)

function Done({ answer: { counts, keys = [] } }: { readonly answer: Answer }) {
  const list = `id,key\n${keys.map(({ id, key }) => `${id},${key}\n`).join('')}`
  return (
    <div class="stack" role="status">
      <p class="notice ok">{words.done(counts)}</p>
      {keys.length > 0 && (
        <>
          <p class="notice warn">{words.keysOnce(keys.length)}</p>
          <div class="actions">
            <a
              class="button primary"
              download="sensor-keys.csv"
              href={URL.createObjectURL(new Blob([list], { type: 'text/csv' }))}
            >
              {words.download}
            </a>
          </div>
        </>
      )}
    </div>
  )
}
