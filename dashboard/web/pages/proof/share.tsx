import { useEffect, useMemo, useState } from 'preact/hooks'
import { config } from '../../me.ts'
import { texts } from '../../texts.ts'
import type { Bundle } from './bundle.ts'
import { CopyButton } from './copy-button.tsx'
import type { Facts } from './facts.ts'

type ShareProps = {
  readonly bundle: Bundle
  readonly facts: Facts
}

/** The one link to hand on, as text and as a QR code, and the file. */
export function Share({ bundle, facts }: ShareProps) {
  const { share } = texts.proof
  const path = `/proof/${encodeURIComponent(facts.sensorId)}/${encodeURIComponent(new Date(facts.timeMs).toISOString())}`
  const link = `${config.value.url}${path}?hash=${facts.fingerprint}`
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
        {bundle.isBrought !== true && <Download bundle={bundle} />}
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
