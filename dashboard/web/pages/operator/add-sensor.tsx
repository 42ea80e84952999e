import { useState } from 'preact/hooks'
import { accountTexts } from '../../account-texts.ts'
import { sendJson } from '../../data.ts'
import { Field } from '../../forms/field.tsx'
import { Secret } from '../../forms/secret.tsx'
import { useAction } from '../../forms/use-action.ts'
import { useFirstWrong } from '../../forms/use-first-wrong.ts'
import { wrongFieldsOf } from '../../forms/wrong-fields.ts'
import { exampleSensor } from '../../parts/example-sensor.ts'
import { Failed } from '../../parts/states.tsx'

const { sensors: words, manage } = accountTexts.operator

const fields = ['id', 'area', 'address', 'lat', 'lon', 'cadence_seconds'] as const
type Name = (typeof fields)[number]
const numbers: readonly Name[] = ['lat', 'lon', 'cadence_seconds']

type AddProps = { readonly onAdded: () => void; readonly close: () => void }

/** A new entry of the registry, with a site from now on, and its key. */
export function AddSensor({ onAdded, close }: AddProps) {
  const [withKey, setWithKey] = useState(true)
  const [key, setKey] = useState<string>()
  const [values, setValues] = useState<Readonly<Partial<Record<Name, string>>>>({
    cadence_seconds: '300',
  })
  const example = { ...exampleSensor.value, cadence_seconds: '300' }
  const action = useAction()
  const wrong = wrongFieldsOf(action.error)
  const form = useFirstWrong(wrong)
  const sent = (name: Name): string | number | undefined => {
    const text = values[name]?.trim()
    if (text === undefined || text === '') return undefined
    return numbers.includes(name) && !Number.isNaN(Number(text)) ? Number(text) : text
  }
  const add = (): Promise<boolean> =>
    action.run(async () => {
      const body = Object.fromEntries(fields.map((name) => [name, sent(name)]))
      const added = await sendJson<{ key: string | null }>('POST', '/operator/api/sensors', {
        ...body,
        key: withKey,
      })
      onAdded()
      if (added.key === null) close()
      else setKey(added.key)
    })
  if (key !== undefined)
    return (
      <div class="stack">
        <p>{words.added}</p>
        <Secret text={key} what="key" />
        <div class="actions">
          <button type="button" class="primary" onClick={close}>
            {accountTexts.settings.forms.stored}
          </button>
        </div>
      </div>
    )
  return (
    <form
      ref={form}
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      {fields.map((name) => (
        <Field
          key={name}
          label={manage.fields[name]}
          hint={words.example(example[name])}
          error={wrong.get(name)}
          value={values[name] ?? ''}
          onValue={(value) => setValues({ ...values, [name]: value })}
          input={{
            required: true,
            autoComplete: 'off',
            ...(numbers.includes(name) ? { inputMode: 'decimal' as const } : {}),
          }}
        />
      ))}
      {action.error !== undefined && wrong.size === 0 && <Failed error={action.error} />}
      <label class="check">
        <input
          type="checkbox"
          checked={withKey}
          onChange={({ currentTarget }) => setWithKey(currentTarget.checked)}
        />
        <span>{words.addKey}</span>
      </label>
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          {words.addIt}
        </button>
      </div>
    </form>
  )
}
