import { useEffect, useMemo, useState } from 'preact/hooks'
import { texts } from '../../texts.ts'
import type { Bundle } from './bundle.ts'
import { CopyButton } from './copy-button.tsx'
import type { Facts } from './facts.ts'

type ShareProps = {
  readonly bundle: Bundle
  readonly facts: Facts
  /** Where programs, and links that are handed on, reach the API. */
  readonly api: string
}

/** The one link to hand on, as text and as a QR code, and the file. */
export function Share({ bundle, facts, api }: ShareProps) {
  const { share } = texts.proof
  const path = `/proof/${encodeURIComponent(facts.sensorId)}/${encodeURIComponent(new Date(facts.timeMs).toISOString())}`
  const link = bundle.link ?? `${api}${path}?hash=${facts.fingerprint}`
  const [hasCode, setHasCode] = useState(true)
  return (
    <section class="proof-share" aria-labelledby="proof-share">
      <h3 id="proof-share">{share.title}</h3>
      {hasCode && (
        <img
          class="proof-qr"
          src={`${path}/qr.svg?hash=${facts.fingerprint}`}
          alt={share.qr}
          width="132"
          height="132"
          onError={() => setHasCode(false)}
        />
      )}
      <p class="proof-link">
        <span class="hint">{share.link}</span>
        <a href={link}>{link}</a>
      </p>
      <div class="actions">
        <CopyButton text={link} label={share.copy} />
        {/* a file that the reader brought is the reader's already */}
        {bundle.link !== undefined && <Download bundle={bundle} />}
        <button type="button" onClick={() => print()}>
          {share.print}
        </button>
      </div>
    </section>
  )
}

function Download({ bundle: { name, bytes } }: { readonly bundle: Bundle }) {
  const url = useMemo(
    () => URL.createObjectURL(new Blob([bytes], { type: 'application/json' })),
    [bytes],
  )
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <a class="button" href={url} download={name}>
      {texts.proof.share.download}
    </a>
  )
}
