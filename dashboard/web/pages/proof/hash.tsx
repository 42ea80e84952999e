import { texts } from '../../texts.ts'
import { CopyButton } from './copy-button.tsx'
import { shortHash } from './verdict.ts'

type HashProps = { readonly what: string; readonly value: string }

/** A hash, short on the screen and whole on paper, with a button that copies all of it. */
export const Hash = ({ what, value }: HashProps) => (
  <span class="proof-hash">
    <code class="proof-short" title={value}>
      {shortHash(value)}
    </code>
    <code class="proof-whole">{value}</code>
    <CopyButton text={value} label={texts.proof.details.copy(what)} isIcon />
  </span>
)
