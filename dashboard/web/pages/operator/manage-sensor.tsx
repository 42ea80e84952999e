import { useState } from 'preact/hooks'
import { accountTexts } from '../../account-texts.ts'
import { getJson, sendJson } from '../../data.ts'
import { Field } from '../../forms/field.tsx'
import { Secret } from '../../forms/secret.tsx'
import { useAction } from '../../forms/use-action.ts'
import { wrongFieldsOf } from '../../forms/wrong-fields.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import type { SensorDetails } from './operator-data.ts'
import { seemsSilent, WhySilent } from './why-silent.tsx'

const { manage: words } = accountTexts.operator

type ManageProps = {
  readonly id: string
  readonly onChange: () => void
  readonly close: () => void
}

/** Everything an operator does with one sensor. */
export function ManageSensor({ id, onChange, close }: ManageProps) {
  const path = `/operator/api/sensors/${encodeURIComponent(id)}`
  const answer = useAnswer(
    async (signal) => (await getJson<{ sensor: SensorDetails }>(path, { signal })).sensor,
    [id],
  )
  const sensor = answer.value
  if (answer.error !== undefined) return <Failed error={answer.error} retry={answer.again} />
  if (sensor === undefined) return <Loading />
  const changed = (): void => {
    answer.again()
    onChange()
  }
  return (
    <div class="stack">
      {seemsSilent(sensor) && <WhySilent id={id} />}
      <FieldsForm
        title={words.settings}
        label={words.save}
        fields={settingFields}
        values={valuesOf(sensor, settingFields)}
        send={(body) => sendJson('PATCH', path, body)}
        onSent={changed}
      />
      <FieldsForm
        title={words.move}
        hint={words.moveHint}
        label={words.moveIt}
        fields={placeFields}
        values={valuesOf(sensor, placeFields)}
        send={(body) => sendJson('POST', `${path}/move`, body)}
        onSent={changed}
      />
      <details>
        <summary>{words.sites(sensor.sites.length)}</summary>
        <ul>
          {sensor.sites.toReversed().map((site) => (
            <li key={site.from}>
              <When at={site.from} />: {site.area}, {site.address} ({site.lat}, {site.lon})
            </li>
          ))}
        </ul>
      </details>
      <NewKey path={path} />
      <Retire
        path={path}
        id={id}
        onDone={() => {
          onChange()
          close()
        }}
      />
    </div>
  )
}

const settingFields = ['cadence_seconds', 'make', 'model', 'height_m', 'owner', 'licence'] as const
const placeFields = ['area', 'address', 'lat', 'lon'] as const
type FieldName = (typeof settingFields)[number] | (typeof placeFields)[number]
const numbers: readonly FieldName[] = ['cadence_seconds', 'height_m', 'lat', 'lon']

type Values = Readonly<Partial<Record<FieldName, string>>>

const valuesOf = (sensor: SensorDetails, names: readonly FieldName[]): Values =>
  Object.fromEntries(names.map((name) => [name, String(sensor[name] ?? '')]))

type FormProps = {
  readonly title: string
  readonly hint?: string
  readonly label: string
  readonly fields: readonly FieldName[]
  /** As they are. */
  readonly values: Values
  readonly send: (body: object) => Promise<unknown>
  readonly onSent: () => void
}

/** Sends the fields that were changed; those of a place together. */
function FieldsForm({ title, hint, label, fields, values: known, send, onSent }: FormProps) {
  const [typed, setTyped] = useState<Values>({})
  const [isSaved, setSaved] = useState(false)
  const action = useAction()
  const wrong = wrongFieldsOf(action.error)
  const valueOf = (name: FieldName): string => typed[name] ?? known[name] ?? ''
  const sent = (name: FieldName): string | number => {
    const text = valueOf(name).trim()
    return numbers.includes(name) && text !== '' && !Number.isNaN(Number(text))
      ? Number(text)
      : text
  }
  const isPlace = fields === placeFields
  const names = isPlace ? fields : fields.filter((name) => typed[name] !== undefined)
  const save = (): Promise<boolean> =>
    action.run(async () => {
      setSaved(false)
      await send(Object.fromEntries(names.map((name) => [name, sent(name)])))
      setTyped({})
      setSaved(true)
      onSent()
    })
  return (
    <details>
      <summary>{title}</summary>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {hint !== undefined && <p class="hint">{hint}</p>}
        {fields.map((name) => (
          <Field
            key={name}
            label={words.fields[name]}
            error={wrong.get(name)}
            value={valueOf(name)}
            onValue={(value) => setTyped({ ...typed, [name]: value })}
            input={{ autoComplete: 'off' }}
          />
        ))}
        {action.error !== undefined && wrong.size === 0 && <Failed error={action.error} />}
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={action.isBusy || Object.keys(typed).length === 0}
          >
            {label}
          </button>
          <span role="status">{isSaved && words.saved}</span>
        </div>
      </form>
    </details>
  )
}

function NewKey({ path }: { readonly path: string }) {
  const [key, setKey] = useState<string>()
  const action = useAction()
  return (
    <details>
      <summary>{words.key}</summary>
      <div class="stack">
        {key === undefined ? (
          <>
            <p>{words.keyHint}</p>
            <div class="actions">
              <button
                type="button"
                disabled={action.isBusy}
                onClick={() =>
                  void action.run(async () =>
                    setKey((await sendJson<{ key: string }>('POST', `${path}/key`, {})).key),
                  )
                }
              >
                {words.makeKey}
              </button>
            </div>
          </>
        ) : (
          <Secret text={key} what="key" />
        )}
        {action.error !== undefined && <Failed error={action.error} />}
      </div>
    </details>
  )
}

type RetireProps = { readonly path: string; readonly id: string; readonly onDone: () => void }

function Retire({ path, id, onDone }: RetireProps) {
  const [isSure, setSure] = useState(false)
  const action = useAction()
  return (
    <details>
      <summary>{words.retire}</summary>
      <div class="stack">
        <p>{words.retireHint(id)}</p>
        <label class="check">
          <input
            type="checkbox"
            checked={isSure}
            onChange={({ currentTarget }) => setSure(currentTarget.checked)}
          />
          <span>{words.retireSure}</span>
        </label>
        {action.error !== undefined && <Failed error={action.error} />}
        <div class="actions">
          <button
            type="button"
            class="danger"
            disabled={!isSure || action.isBusy}
            onClick={() =>
              void action.run(async () => {
                await sendJson('DELETE', path)
                onDone()
              })
            }
          >
            {words.retireIt}
          </button>
        </div>
      </div>
    </details>
  )
}
