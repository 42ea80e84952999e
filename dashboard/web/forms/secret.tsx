import { accountTexts } from '../account-texts.ts'
import { Copy } from '../parts/copy.tsx'

const { secrets: words } = accountTexts.settings.forms

type SecretProps = { readonly text: string; readonly what: keyof typeof words }

/** A secret that is shown only once. */
export const Secret = ({ text, what }: SecretProps) => (
  <>
    <div class="secret">
      <code>{text}</code>
      <Copy text={text} label={words[what].copy} />
    </div>
    <p class="notice warn">{words[what].once}</p>
  </>
)
