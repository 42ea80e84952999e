import { config } from '../me.ts'
import { Copy } from './copy.tsx'

/** Copies the one link to hand on. @param url whole, as `proof_url` of the API is */
export const CopyProofLink = ({ url }: { readonly url: string }) => (
  <Copy text={url} label="Copy the link to the proof" />
)

/** What every page that shows proofs says of a chain that the operator runs. */
export const Demonstration = () =>
  config.value.demonstration === true ? (
    <p class="notice warn">
      This network anchors on a demonstration chain. It shows how it works, and proves nothing about
      time, because the operator runs it.
    </p>
  ) : null
