import { useState } from 'preact/hooks'
import { sendJson } from '../../data.ts'
import { Failed } from '../../parts/states.tsx'
import { Field } from '../settings/field.tsx'
import { useAction } from '../settings/use-action.ts'
import { useFirstWrong } from '../settings/use-first-wrong.ts'
import { wrongFieldsOf } from '../settings/wrong-fields.ts'

const fields = [
  ['id', 'Id', 'NGR-LOS-IKJ-017'],
  ['area', 'Area', 'Ikeja'],
  ['address', 'Address', '12 Allen Avenue, Ikeja'],
  ['lat', 'Latitude', '6.6018'],
  ['lon', 'Longitude', '3.3515'],
  ['cadence_seconds', 'Seconds between readings', '300'],
] as const
type Name = (typeof fields)[number][0]
const numbers: readonly Name[] = ['lat', 'lon', 'cadence_seconds']

/** A new entry of the registry, with a site from now on. */
export function AddSensor({ onAdded }: { readonly onAdded: () => void }) {
  const [values, setValues] = useState<Readonly<Partial<Record<Name, string>>>>({
    cadence_seconds: '300',
  })
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
      const body = Object.fromEntries(fields.map(([name]) => [name, sent(name)]))
      await sendJson('POST', '/operator/api/sensors', body)
      onAdded()
    })
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
      {fields.map(([name, label, example]) => (
        <Field
          key={name}
          label={label}
          hint={`such as ${example}`}
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
      <p class="hint">
        A sensor’s own key is made on the command line: <code>airproof sensors key</code>.
      </p>
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          Add it
        </button>
      </div>
    </form>
  )
}
