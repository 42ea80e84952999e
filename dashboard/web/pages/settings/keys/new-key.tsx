import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { sendJson } from '../../../data.ts'
import { Field } from '../../../forms/field.tsx'
import { Secret } from '../../../forms/secret.tsx'
import { Select } from '../../../forms/select.tsx'
import { useAction } from '../../../forms/use-action.ts'
import { wrongFieldsOf } from '../../../forms/wrong-fields.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { Snippets } from '../../../parts/snippets.tsx'
import { Failed } from '../../../parts/states.tsx'
import { When } from '../../../parts/time/when.tsx'

const { keys: words, forms } = accountTexts.settings

export type Key = {
  readonly id: string
  readonly name: string
  /** Its first characters. */
  readonly hint: string
  readonly state: 'live' | 'expired' | 'revoked'
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

const lives = [
  ['90', words.days.d90],
  ['30', words.days.d30],
  ['7', words.days.d7],
] as const
export type Life = (typeof lives)[number][0]

export type MadeKey = { readonly key: string; readonly record: Key }

type NewKeyProps = {
  readonly isOpen: boolean
  /** What was just made and is not stored yet. */
  readonly made: MadeKey | undefined
  readonly close: () => void
  readonly onMade: (made: MadeKey) => void
  readonly onStored: () => void
}

/** First its name; then the key itself, until the reader confirms that it is stored. */
export const NewKey = ({ isOpen, made, close, onMade, onStored }: NewKeyProps) => (
  <Dialog title={made === undefined ? words.dialog : words.newKey} isOpen={isOpen} close={close}>
    {made === undefined ? <Making onMade={onMade} /> : <Shown made={made} onStored={onStored} />}
  </Dialog>
)

function Making({ onMade }: Pick<NewKeyProps, 'onMade'>) {
  const [name, setName] = useState('')
  const [days, setDays] = useState<Life>('90')
  const action = useAction()
  const wrong = wrongFieldsOf(action.error)
  const make = (): Promise<boolean> =>
    action.run(async () => {
      onMade(await sendJson<MadeKey>('POST', '/data/keys', { name, days: Number(days) }))
    })
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <Field
        label={words.name}
        hint={words.nameHint}
        error={wrong.get('name')}
        value={name}
        onValue={setName}
        input={{ required: true, maxLength: 100, autoComplete: 'off', autoFocus: true }}
      />
      <ValidFor value={days} onValue={setDays} />
      {action.error !== undefined && wrong.size === 0 && <Failed error={action.error} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          {words.generate}
        </button>
      </div>
    </form>
  )
}

type ValidForProps = { readonly value: Life; readonly onValue: (days: Life) => void }

export const ValidFor = (choice: ValidForProps) => (
  <Select label={words.validFor} choices={lives} {...choice} />
)

type ShownProps = { readonly made: MadeKey; readonly onStored: () => void }

const Shown = ({ made: { key, record }, onStored }: ShownProps) => (
  <div class="stack">
    <div>
      <p>
        <Filled
          text={words.worksUntil}
          parts={{
            name: () => <b>{record.name}</b>,
            time: () => <When at={record.expires_at} />,
          }}
        />
      </p>
      <Secret text={key} what="key" />
    </div>
    <Snippets path="/v1/sensors?limit=5" apiKey={key} />
    <div class="actions">
      <button type="button" class="primary" onClick={onStored}>
        {forms.stored}
      </button>
    </div>
  </div>
)
