import { Copy } from '../../parts/copy.tsx'

type SecretProps = { readonly text: string; readonly what: string }

/** A secret that is shown only once. */
export const Secret = ({ text, what }: SecretProps) => (
  <>
    <div class="secret">
      <code>{text}</code>
      <Copy text={text} label={`Copy the ${what}`} />
    </div>
    <p class="notice warn">
      This is the only time the {what} is shown. Store it like a password: in a password manager or
      your deployment’s secrets, never in code.
    </p>
  </>
)
