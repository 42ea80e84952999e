import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, getJson } from '../../data.ts'
import type { PageProps } from '../../page.ts'
import { Demonstration } from '../../parts/proof-link.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { mismatchWords, waitWords } from './check-words.ts'
import './proof.css'
import { type Bundle, Checked } from './checked.tsx'
import { DropFile } from './drop-file.tsx'
import { verifierPath } from './verifier.ts'

/** Checks the proof of one reading, or of a file the reader brings, here in the browser. */
export function ProofPage({ params, query }: PageProps) {
  const { id, timestamp } = params
  const dropped = useSignal<Bundle | undefined>(undefined)
  return (
    <div class="stack proof">
      <header>
        <h1>Proof of a reading</h1>
        {id !== undefined && timestamp !== undefined ? (
          <p class="row">
            <a href={`/sensors/${id}`}>{id}</a>
            <When at={timestamp} />
          </p>
        ) : (
          <p>
            Every reading is anchored on a blockchain. A proof is one small file; your browser
            checks it here by itself. The file is not sent anywhere.
          </p>
        )}
        <Demonstration />
      </header>
      {dropped.value !== undefined ? (
        <>
          <Checked key={dropped.value.name} bundle={dropped.value} />
          {id !== undefined && (
            <p>
              <button type="button" class="quiet" onClick={() => (dropped.value = undefined)}>
                Back to the proof of this reading
              </button>
            </p>
          )}
        </>
      ) : (
        id !== undefined &&
        timestamp !== undefined && (
          <OfReading id={id} timestamp={timestamp} hash={query.get('hash') ?? ''} />
        )
      )}
      <DropFile take={(bundle) => (dropped.value = bundle)} />
      <Elsewhere />
    </div>
  )
}

type Standing = {
  readonly status: 'pending' | 'anchoring' | 'verified' | 'mismatch'
  readonly reason: string | null
  readonly reading_hash: string
  readonly expected_by: string | null
  readonly proof_url: string | null
  readonly ledger: { readonly explorer_url: string } | null
}

type OfReadingProps = { readonly id: string; readonly timestamp: string; readonly hash: string }

function OfReading({ id, timestamp, hash }: OfReadingProps) {
  const path = `/data/v1/readings/${encodeURIComponent(id)}`
  const at = new URLSearchParams({ timestamp })
  const { value, error, again } = useAnswer(
    async (signal) => {
      const standing = await getJson<Standing>(`${path}/verify?${at}`, { signal })
      if (standing.status !== 'verified' || (hash !== '' && standing.reading_hash !== hash))
        return { standing, bundle: undefined }
      if (hash !== '') at.set('hash', hash)
      const answer = await ask(`${path}/proof?${at}`, { signal })
      const name = `${id}_${timestamp.replaceAll(':', '-')}.airproof.json`
      const bytes = new Uint8Array(await answer.arrayBuffer())
      return { standing, bundle: { name, bytes } }
    },
    [path, timestamp, hash],
  )
  const isWaiting = value?.standing.status === 'pending' || value?.standing.status === 'anchoring'
  useEffect(() => {
    if (!isWaiting) return
    const timer = setInterval(again, 10_000)
    return () => clearInterval(timer)
  }, [isWaiting, again])
  if (value === undefined)
    return error === undefined ? (
      <Loading what="Asking for the proof…" />
    ) : (
      <Failed error={error} retry={again} />
    )
  const { standing, bundle } = value
  if (hash !== '' && standing.reading_hash !== hash)
    return <OtherHash hash={standing.reading_hash} />
  if (bundle === undefined) return <NotYet standing={standing} />
  return (
    <Checked
      bundle={bundle}
      explorerUrl={standing.ledger?.explorer_url}
      link={standing.proof_url}
    />
  )
}

const OtherHash = ({ hash }: { readonly hash: string }) => (
  <div class="card verdict" data-verdict="refused" role="alert">
    <h2>Another reading than the link says</h2>
    <p>The link names a fingerprint that this reading does not have. It has:</p>
    <p class="mono">{hash}</p>
  </div>
)

function NotYet({ standing }: { readonly standing: Standing }) {
  const { status, reason, expected_by: expected, reading_hash: hash } = standing
  if (status === 'mismatch') {
    return (
      <div class="card verdict" data-verdict="refused" role="alert">
        <h2>Not what was anchored</h2>
        <p>{mismatchWords[reason ?? ''] ?? 'What is stored and what was anchored differ.'}</p>
        <p>The operator is notified. A saved proof file can still be checked below.</p>
      </div>
    )
  }
  return (
    <div class="card verdict" data-verdict="waiting" role="status">
      <h2>{status === 'pending' ? 'Waiting for its batch' : 'On its way to the blockchain'}</h2>
      <p>
        {status === 'pending'
          ? 'The reading is accepted. Readings are anchored together, some minutes’ worth at once.'
          : (waitWords[reason ?? ''] ?? 'Its batch is on its way.')}
      </p>
      {expected !== null && (
        <p>
          Expected by <When at={expected} /> (<When at={expected} as="ago" />
          ). This page looks again by itself.
        </p>
      )}
      <dl class="facts">
        <dt>Fingerprint</dt>
        <dd class="mono">{hash}</dd>
      </dl>
    </div>
  )
}

const Elsewhere = () => (
  <section class="card" aria-labelledby="elsewhere">
    <h2 id="elsewhere">Check it without us</h2>
    <p>
      This page runs a <a href={verifierPath}>verifier</a> that needs no server. Keep it with the
      proof: both stay valid without this service.
    </p>
    <pre tabIndex={0} aria-label="Command that checks a proof">
      <code>node airproof-verify.js FILE --block-hash 0x…</code>
    </pre>
  </section>
)
