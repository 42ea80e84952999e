import { useCallback, useEffect, useState } from 'preact/hooks'
import type { PageProps } from '../../page.ts'
import { addressValue } from '../../parts/address-state.ts'
import { Filled } from '../../parts/filled.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { texts } from '../../texts.ts'
import type { Bundle } from './bundle.ts'
import { Certificate } from './certificate.tsx'
import { DropFile } from './drop-file.tsx'
import { Hash } from './hash.tsx'
import './proof.css'
import { Seal } from './seal.tsx'
import { getProof, getReading, getStanding, type Standing } from './standing.ts'
import { networkPath, prepare, verifierPath } from './verifier.ts'
import { Waiting } from './waiting.tsx'

/** Checks the proof of one reading, or of a file the reader brings, here in the browser. */
export function ProofPage({ params }: PageProps) {
  const { id, timestamp } = params
  const [dropped, setDropped] = useState<Bundle>()
  // a file that is brought later can be checked without a connection
  useEffect(() => void prepare(), [])
  const { proof } = texts
  const isOfReading = id !== undefined && timestamp !== undefined
  return (
    <div class="stack proof">
      <header class="proof-top">
        <h1>{isOfReading ? proof.title : proof.checkTitle}</h1>
        {dropped !== undefined ? (
          <p class="muted">{proof.drop.file(dropped.name)}</p>
        ) : isOfReading ? (
          <p class="row">
            <a href={`/sensors/${encodeURIComponent(id)}`}>{id}</a>
            <When at={timestamp} />
          </p>
        ) : (
          <p>{proof.intro}</p>
        )}
      </header>
      {dropped !== undefined ? (
        <>
          <Certificate key={dropped} bundle={dropped} isFile />
          {isOfReading && (
            <p class="proof-back">
              <button type="button" class="quiet" onClick={() => setDropped(undefined)}>
                {proof.backToOwn}
              </button>
            </p>
          )}
        </>
      ) : (
        isOfReading && <OfReading id={id} timestamp={timestamp} hash={addressValue('hash')} />
      )}
      <DropFile take={setDropped} />
      <Offline />
    </div>
  )
}

type OfReadingProps = { readonly id: string; readonly timestamp: string; readonly hash: string }

function OfReading({ id, timestamp, hash }: OfReadingProps) {
  const { value, error, isAsking, again } = useAnswer(
    async (signal) => {
      const standing = await getStanding({ id, timestamp, signal })
      const isOther = hash !== '' && standing.reading_hash !== hash
      if (standing.status !== 'verified' || isOther) {
        const reading = isOther ? undefined : await getReading({ id, timestamp, signal })
        return { standing, reading, bundle: undefined }
      }
      const bundle: Bundle = {
        ...(await getProof({ id, timestamp, hash, signal })),
        explorerUrl: elsewhere(standing),
      }
      return { standing, bundle, reading: undefined }
    },
    [id, timestamp, hash],
  )
  const isWaiting = value?.standing.status === 'pending' || value?.standing.status === 'anchoring'
  const look = useCallback(() => {
    if (isWaiting && !isAsking) again()
  }, [isWaiting, isAsking, again])
  useEvery(10_000, look)
  if (value === undefined)
    return error === undefined ? (
      <Loading what={texts.proof.asking} />
    ) : (
      <Failed error={error} retry={again} />
    )
  const { standing, bundle, reading } = value
  if (hash !== '' && standing.reading_hash !== hash)
    return <OtherVersion hash={standing.reading_hash} />
  if (bundle !== undefined) return <Certificate bundle={bundle} />
  if (standing.status === 'mismatch') return <Altered reason={standing.reason} />
  return (
    <Waiting standing={standing} reading={reading} sensorId={id} isCutOff={error !== undefined} />
  )
}

/** Without an explorer the API links to its own page of the proof. */
const elsewhere = ({ ledger, proof_url: own }: Standing): string | undefined =>
  ledger === null || ledger.explorer_url === own ? undefined : ledger.explorer_url

function OtherVersion({ hash }: { readonly hash: string }) {
  const { otherVersion, details } = texts.proof
  return (
    <div class="proof-paper" data-verdict="invalid" role="alert">
      <header class="proof-head">
        <Seal kind="invalid" />
        <div>
          <h2>{otherVersion.title}</h2>
          <p>{otherVersion.words}</p>
          <p>
            <Hash what={details.fingerprint} value={hash} />
          </p>
        </div>
      </header>
    </div>
  )
}

function Altered({ reason }: Pick<Standing, 'reason'>) {
  const { altered } = texts.proof
  const reasons: Readonly<Record<string, string>> = altered.reasons
  return (
    <div class="proof-paper" data-verdict="invalid" role="alert">
      <header class="proof-head">
        <Seal kind="invalid" />
        <div>
          <h2>{altered.title}</h2>
          <p>{reasons[reason ?? ''] ?? altered.other}</p>
          <p>{altered.notified}</p>
        </div>
      </header>
    </div>
  )
}

function Offline() {
  const { offline } = texts.proof
  return (
    <section class="proof-offline" aria-labelledby="proof-offline">
      <h2 id="proof-offline">{offline.title}</h2>
      <p>
        <Filled
          text={offline.words}
          parts={{
            verifier: () => <a href={verifierPath}>airproof-verify.js</a>,
            network: (label) => <a href={networkPath}>{label}</a>,
          }}
        />
      </p>
      <pre tabIndex={0} aria-label={offline.command}>
        <code>node airproof-verify.js FILE --network airproof.json --block-hash 0x…</code>
      </pre>
    </section>
  )
}
