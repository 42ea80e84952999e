import { useState } from 'preact/hooks'
import { sendJson } from '../../data.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Failed } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { Field } from './field.tsx'
import { Secret } from './secret.tsx'
import { useAction } from './use-action.ts'
import { wrongFieldsOf } from './wrong-fields.ts'

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
  <Dialog
    title={made === undefined ? 'Generate a key' : 'Your new key'}
    isOpen={isOpen}
    close={close}
  >
    {made === undefined ? <Making onMade={onMade} /> : <Shown made={made} onStored={onStored} />}
  </Dialog>
)

function Making({ onMade }: Pick<NewKeyProps, 'onMade'>) {
  const [name, setName] = useState('')
  const action = useAction()
  const wrong = wrongFieldsOf(action.error)
  const make = (): Promise<boolean> =>
    action.run(async () => onMade(await sendJson<MadeKey>('POST', '/data/keys', { name })))
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <Field
        label="Name"
        hint="What it is for, to tell it from others: “my laptop”, “school display”"
        error={wrong.get('name')}
        value={name}
        onValue={setName}
        input={{ required: true, maxLength: 100, autoComplete: 'off', autoFocus: true }}
      />
      {action.error !== undefined && wrong.size === 0 && <Failed error={action.error} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          Generate
        </button>
      </div>
    </form>
  )
}

type ShownProps = { readonly made: MadeKey; readonly onStored: () => void }

const Shown = ({ made: { key, record }, onStored }: ShownProps) => (
  <div class="stack">
    <div>
      <p>
        <b>{record.name}</b> works until <When at={record.expires_at} />.
      </p>
      <Secret text={key} what="key" />
    </div>
    <Snippets path="/v1/sensors?limit=5" apiKey={key} />
    <div class="actions">
      <button type="button" class="primary" onClick={onStored}>
        I have stored it
      </button>
    </div>
  </div>
)
