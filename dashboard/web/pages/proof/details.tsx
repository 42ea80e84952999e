import { format, texts } from '../../texts.ts'
import type { Facts } from './facts.ts'
import { Hash } from './hash.tsx'

type DetailsProps = { readonly facts: Facts; readonly chain: string }

/** Where the reading is anchored: folded on the screen. */
export const Details = (props: DetailsProps) => (
  <details class="proof-details">
    <summary>{texts.proof.details.title}</summary>
    <Rows {...props} />
  </details>
)

/** The same on paper, where nothing unfolds. */
export const PrintedDetails = (props: DetailsProps) => (
  <section class="proof-printed">
    <h3>{texts.proof.details.title}</h3>
    <Rows {...props} />
    <p>{texts.proof.share.printed(new Date().toISOString().slice(0, 19).replace('T', ' '))}</p>
  </section>
)

function Rows({ facts: { block, fingerprint }, chain }: DetailsProps) {
  const { details } = texts.proof
  return (
    <dl class="facts">
      <dt>{details.fingerprint}</dt>
      <dd>
        <Hash what={details.fingerprint} value={fingerprint} />
      </dd>
      <dt>{details.chain}</dt>
      <dd>{chain}</dd>
      <dt>{details.block}</dt>
      <dd>{format.number(block.number)}</dd>
      <dt>{details.blockHash}</dt>
      <dd>
        <Hash what={details.blockHash} value={block.hash} />
      </dd>
      <dt>{details.contract}</dt>
      <dd>
        <Hash what={details.contract} value={block.contract} />
      </dd>
      <dt>{details.transaction}</dt>
      <dd>
        <Hash what={details.transaction} value={block.txHash} />
      </dd>
    </dl>
  )
}
