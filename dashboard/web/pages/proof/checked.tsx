import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Verification } from '../../../../anchor/verifier/airproof-verify.js'
import { basicNames, units } from '../../../../core/air/quantities.ts'
import { chainInWords } from '../../../../core/proof/demonstration-chain.ts'
import { Amount } from '../../parts/amount.tsx'
import { Aqi } from '../../parts/aqi.tsx'
import { Copy } from '../../parts/copy.tsx'
import { CopyProofLink } from '../../parts/proof-link.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { longWords } from '../sensor/words.ts'
import { isHash, questionOf } from './check-words.ts'
import { verify } from './verifier.ts'

/** A proof as a file. */
export type Bundle = { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }

type CheckedProps = {
  readonly bundle: Bundle
  /** Where the transaction is shown, if anywhere. */
  readonly explorerUrl?: string | undefined
  /** The one to hand on, if it is known. */
  readonly link?: string | null | undefined
}

/** The verifier's result for a file, step by step. */
export function Checked({ bundle, explorerUrl, link }: CheckedProps) {
  const typed = useSignal('')
  const blockHash = typed.value.trim().toLowerCase()
  const isUsable = blockHash === '' || isHash(blockHash)
  const { value, error } = useAnswer(
    async () => verify(bundle.bytes, isUsable ? blockHash : ''),
    [bundle, isUsable ? blockHash : ''],
  )
  if (error !== undefined) return <Failed error={new Error('The verifier could not be loaded.')} />
  if (value === undefined) return <Loading what="Checking…" />
  return (
    <>
      <Verdict verification={value} />
      {value.reading !== null && <Proven reading={value.reading} />}
      <Steps verification={value} />
      <section class="card" aria-labelledby="trust">
        <h2 id="trust">What is left to trust</h2>
        {value.trusts.length > 0 && (
          <ul>
            {value.trusts.map((trust) => (
              <li key={trust}>{trust}</li>
            ))}
          </ul>
        )}
        <label class="field">
          Hash of the block, from a source that you trust (optional)
          <input
            class="mono"
            value={typed.value}
            onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
            placeholder="0x…"
            spellcheck={false}
            autocomplete="off"
            aria-invalid={!isUsable}
            aria-describedby="hash-hint"
          />
          <span id="hash-hint" class={isUsable ? 'hint' : 'error'}>
            {isUsable
              ? 'Look the block up on a node or an explorer of your choice; then nothing about the chain is left to trust.'
              : 'A hash is 0x and 64 hexadecimal digits.'}
          </span>
        </label>
      </section>
      {value.block !== null && <Anchor block={value.block} explorerUrl={explorerUrl} />}
      <Keep bundle={bundle} link={link} />
    </>
  )
}

function Verdict({ verification }: { readonly verification: Verification }) {
  const { ok, block, checks, demonstration } = verification
  const failed = checks.find((check) => !check.ok)
  return (
    <div class="card verdict" data-verdict={ok ? 'proven' : 'refused'} role="status">
      <h2>{ok ? (demonstration ? 'Proven on a demonstration chain' : 'Proven') : 'Refused'}</h2>
      {ok && block !== null ? (
        <p>
          This reading existed with exactly these values before <When at={block.time} />, when block{' '}
          {block.number} took its fingerprint. Its values were not changed since.
        </p>
      ) : (
        <p>
          {failed === undefined
            ? 'The file is not a proof.'
            : `${questionOf(failed.name)} ${failed.why}`}
        </p>
      )}
    </div>
  )
}

const Proven = ({ reading }: { readonly reading: NonNullable<Verification['reading']> }) => (
  <section class="card" aria-labelledby="proven">
    <h2 id="proven">What was measured</h2>
    <dl class="facts">
      <dt>Sensor</dt>
      <dd>
        <a href={`/sensors/${reading.sensor_id}`}>{reading.sensor_id}</a>
      </dd>
      <dt>Time</dt>
      <dd>
        <When at={reading.timestamp} />
      </dd>
      <dt>Air quality index</dt>
      <dd>
        <Aqi aqi={reading.aqi} words />
      </dd>
      {basicNames.map((name) => (
        <>
          <dt key={`${name} name`}>{longWords[name]}</dt>
          <dd key={name}>
            <Amount value={reading[name]} unit={units[name]} />
          </dd>
        </>
      ))}
    </dl>
  </section>
)

const Steps = ({ verification: { checks, notAsked } }: { readonly verification: Verification }) => (
  <section class="card" aria-labelledby="checks">
    <h2 id="checks">What your browser checked</h2>
    <ol class="checks">
      {checks.map(({ name, ok, why }) => (
        <li key={name} data-ok={ok}>
          <span class="mark" aria-hidden="true">
            {ok ? '✓' : '✗'}
          </span>
          <span>
            <b>{questionOf(name)}</b> <span class="visually-hidden">{ok ? 'Yes.' : 'No.'}</span>
            <span class="hint why">{why}</span>
          </span>
        </li>
      ))}
      {notAsked.map(({ name, why }) => (
        <li key={name}>
          <span class="mark" aria-hidden="true">
            –
          </span>
          <span>
            <b>{questionOf(name)}</b> Not asked. <span class="hint why">{why}</span>
          </span>
        </li>
      ))}
    </ol>
  </section>
)

type AnchorProps = {
  readonly block: NonNullable<Verification['block']>
  readonly explorerUrl: string | undefined
}

function Anchor({ block, explorerUrl }: AnchorProps) {
  // without an explorer the API links to this page, which is open already
  const isElsewhere = explorerUrl !== undefined && !explorerUrl.includes('/proof/')
  return (
    <section class="card" aria-labelledby="anchor">
      <h2 id="anchor">Where it is anchored</h2>
      <dl class="facts">
        <dt>Chain</dt>
        <dd>{chainInWords(block.chainId)}</dd>
        <dt>Block</dt>
        <dd>
          {block.number}, <When at={block.time} />
        </dd>
        <dt>Block hash</dt>
        <dd class="mono">{block.hash}</dd>
        <dt>Contract</dt>
        <dd class="mono">{block.contract}</dd>
        <dt>Transaction</dt>
        <dd class="mono">{block.txHash}</dd>
      </dl>
      {isElsewhere && (
        <p>
          <a href={explorerUrl} rel="noreferrer">
            See the transaction in an explorer of the chain
          </a>
        </p>
      )}
    </section>
  )
}

function Keep({ bundle: { name, bytes }, link }: Pick<CheckedProps, 'bundle' | 'link'>) {
  const text = useMemo(() => new TextDecoder().decode(bytes), [bytes])
  const url = useMemo(
    () => URL.createObjectURL(new Blob([bytes], { type: 'application/json' })),
    [bytes],
  )
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <div class="actions">
      <a class="button primary" href={url} download={name}>
        Keep the proof as a file
      </a>
      <Copy text={text} label="Copy the proof" />
      {link && <CopyProofLink url={link} />}
    </div>
  )
}
