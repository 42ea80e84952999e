import type { ComponentChildren } from 'preact'
import { accountTexts } from '../account-texts.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Failed } from '../parts/states.tsx'
import { useAction } from './use-action.ts'

type ConfirmProps = {
  readonly title: string
  /** The button's label. */
  readonly label: string
  readonly isOpen: boolean
  readonly close: () => void
  readonly act: () => Promise<void>
  readonly children: ComponentChildren
}

/** Asks again before something that cannot be undone. */
export function Confirm({ title, label, isOpen, close, act, children }: ConfirmProps) {
  const action = useAction()
  const away = (): void => {
    action.clear()
    close()
  }
  const sure = async (): Promise<void> => {
    if (await action.run(act)) away()
  }
  return (
    <Dialog title={title} isOpen={isOpen} close={away}>
      <div class="stack">
        <div>{children}</div>
        {action.error !== undefined && <Failed error={action.error} />}
        <div class="actions">
          <button type="button" class="danger" disabled={action.isBusy} onClick={() => void sure()}>
            {label}
          </button>
          <button type="button" onClick={away}>
            {accountTexts.settings.forms.cancel}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
