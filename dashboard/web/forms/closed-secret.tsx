import { accountTexts } from '../account-texts.ts'

const { forms } = accountTexts.settings

type ClosedSecretProps = {
  readonly words: string
  readonly show: () => void
  /** The reader says that it is stored. */
  readonly forget: () => void
}

/** After a new secret was closed and before its reader said that it is stored: it is not lost yet. */
export const ClosedSecret = ({ words, show, forget }: ClosedSecretProps) => (
  <div class="notice warn row between" role="status">
    <span>{words}</span>
    <span class="actions">
      <button type="button" onClick={show}>
        {forms.showAgain}
      </button>
      <button type="button" onClick={forget}>
        {forms.stored}
      </button>
    </span>
  </div>
)
