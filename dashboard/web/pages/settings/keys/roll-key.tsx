import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { sendJson } from '../../../data.ts'
import { Select } from '../../../forms/select.tsx'
import { useAction } from '../../../forms/use-action.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { Failed } from '../../../parts/states.tsx'
import { type Key, type Life, type MadeKey, ValidFor } from './new-key.tsx'

const { keys: words } = accountTexts.settings

const overlaps = [
  ['24', words.overlaps.h24],
  ['1', words.overlaps.h1],
  ['72', words.overlaps.h72],
  ['0', words.overlaps.h0],
] as const

type RollProps = {
  /** undefined: the dialog is closed. */
  readonly of: Key | undefined
  readonly close: () => void
  readonly onMade: (made: MadeKey) => void
}

/** A new key in place of one that works, which goes on for a while. */
export const RollKey = ({ of: key, close, onMade }: RollProps) => (
  <Dialog title={words.rollTitle} isOpen={key !== undefined} close={close}>
    {key !== undefined && <Rolling of={key} onMade={onMade} />}
  </Dialog>
)

function Rolling({ of: key, onMade }: Pick<RollProps, 'onMade'> & { readonly of: Key }) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number][0]>('24')
  const [days, setDays] = useState<Life>('90')
  const action = useAction()
  const roll = (): Promise<boolean> =>
    action.run(async () => {
      const body = { days: Number(days), overlap_hours: Number(overlap) }
      onMade(await sendJson<MadeKey>('POST', `/data/keys/${encodeURIComponent(key.id)}/roll`, body))
    })
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void roll()
      }}
    >
      <p>
        <Filled
          text={words.rollWords}
          parts={{ name: () => <b>{key.name}</b>, hint: () => <code>{key.hint}…</code> }}
        />
      </p>
      <Select label={words.overlap} value={overlap} choices={overlaps} onValue={setOverlap} />
      <ValidFor value={days} onValue={setDays} />
      {action.error !== undefined && <Failed error={action.error} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          {words.rollIt}
        </button>
      </div>
    </form>
  )
}
