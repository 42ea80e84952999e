import { config } from '../me.ts'
import { texts } from '../texts.ts'
import { Copy } from './copy.tsx'

/** Copies the one link to hand on. @param url whole, as `proof_url` of the API is */
export const CopyProofLink = ({ url }: { readonly url: string }) => (
  <Copy text={url} label={texts.proof.share.copyProof} />
)

/** What every page that shows proofs says of a chain that the operator runs. */
export const Demonstration = () =>
  config.value.demonstration === true ? <p class="notice warn">{texts.proof.testChain}</p> : null
