import { useState } from 'preact/hooks'
import { isDemonstrationChain } from '../../../../core/proof/demonstration-chain.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { format, texts } from '../../texts.ts'
import type { Asked } from './ask-node.ts'
import type { Bundle } from './bundle.ts'
import { chainName } from './chain-words.ts'
import { CheckList } from './check-list.tsx'
import { ConfirmBlock } from './confirm-block.tsx'
import { Details, PrintedDetails } from './details.tsx'
import { type Facts, isNetworkFile } from './facts.ts'
import { InShort, Measured } from './measured.tsx'
import { CheckedPath } from './path.tsx'
import { Seal } from './seal.tsx'
import { Share } from './share.tsx'
import { Statements } from './statements.tsx'
import { TimeBracket } from './time-bracket.tsx'
import { whyInvalid } from './trust-words.ts'
import { failedCheck, isHash, shortHash, type VerdictKind } from './verdict.ts'
import { type Checked, check } from './verifier.ts'

type Confirmed = Asked & { readonly host: string }

type CertificateProps = {
  readonly bundle: Bundle
  /** Brought by the reader: the page does not say above of which sensor and time it is. */
  readonly isFile?: boolean
}

/** What the browser has found out about a file, as a certificate that can be printed. */
export function Certificate({ bundle, isFile = false }: CertificateProps) {
  const [hash, setHash] = useState('')
  const [asked, setAsked] = useState<Confirmed>()
  const blockHash = isHash(hash) ? hash : ''
  const answer = useAnswer(async () => check(bundle.bytes, blockHash), [bundle, blockHash])
  if (answer.error !== undefined)
    return <Failed error={new Error(texts.proof.noVerifier)} retry={answer.again} />
  if (answer.value === undefined) return <Loading what={texts.proof.checking} />
  const shown = withNode(answer.value, asked)
  const { facts, own, kind } = shown
  const canConfirm =
    facts !== undefined &&
    typeof own === 'object' &&
    // a wrong hash makes a proof invalid, and can be corrected
    (kind === 'consistent' || kind === 'matches' || hash !== '')
  return (
    <>
      <article class="proof-paper" data-verdict={kind} data-test-chain={isOnTestChain(shown)}>
        <Head bundle={bundle} shown={shown} asked={asked} isFile={isFile} />
        {facts !== undefined && (
          <CheckedPath facts={facts} verification={shown.verification} kind={kind} />
        )}
        {facts !== undefined && kind !== 'invalid' && (
          <Body bundle={bundle} shown={shown} facts={facts} asked={asked} />
        )}
      </article>
      {canConfirm && (
        <ConfirmBlock
          bundle={bundle}
          facts={facts}
          network={own}
          hash={hash}
          onHash={(typed) => {
            setAsked(undefined)
            setHash(typed)
          }}
          onAsked={setAsked}
        />
      )}
      <CheckList verification={shown.verification} isOpen={kind === 'invalid'} />
    </>
  )
}

/** The node's answer decides, if there is one. */
function withNode(checked: Checked, asked: Confirmed | undefined): Checked {
  if (checked.kind !== 'consistent' || asked === undefined) return checked
  if (asked.kind === 'confirmed')
    return { ...checked, kind: 'matches', verification: asked.verification }
  if (asked.kind === 'contradicted')
    return { ...checked, kind: 'invalid', verification: asked.verification }
  return checked
}

const isOnTestChain = ({ verification, facts }: Checked): boolean =>
  verification.demonstration || (facts !== undefined && isDemonstrationChain(facts.block.chainId))

type HeadProps = {
  readonly bundle: Bundle
  readonly shown: Checked
  readonly asked: Confirmed | undefined
  readonly isFile: boolean
}

function Head({ bundle, shown, asked, isFile }: HeadProps) {
  const { certificate, verdict, testChain, confirm, valuesMatch } = texts.proof
  const { kind, facts } = shown
  const { reading, checks } = shown.verification
  return (
    <header class="proof-head">
      <Seal kind={kind} />
      <div role="status">
        {kind !== 'invalid' && <p class="proof-kicker">{certificate}</p>}
        {kind !== 'invalid' && reading !== null && (
          <>
            <InShort reading={reading} />
            {isFile && facts !== undefined && (
              <p>
                {facts.sensorId} · <When at={facts.timeMs} />
              </p>
            )}
            {checks.some(({ name, ok }) => name === 'leaf' && ok) && (
              <p class="proof-match">
                <span aria-hidden="true">✓</span> {valuesMatch}
              </p>
            )}
          </>
        )}
        <h2>{verdict[kind]}</h2>
        <p>{sentenceOf(shown, bundle)}</p>
        {kind === 'matches' && asked?.kind === 'confirmed' && (
          <p class="hint">{confirm.confirmedBy(asked.host)}</p>
        )}
        {kind === 'invalid' && <Difference shown={shown} />}
        {kind !== 'invalid' && isOnTestChain(shown) && <p class="proof-test">{testChain}</p>}
      </div>
    </header>
  )
}

function sentenceOf(shown: Checked, { bytes }: Bundle): string {
  const { verdictWords, invalid } = texts.proof
  const { kind, facts, verification } = shown
  if (kind === 'invalid' || facts === undefined)
    return whyInvalid(failedCheck(verification), invalid, isNetworkFile(bytes))
  const block = format.number(facts.block.number)
  const words: Readonly<Record<Exclude<VerdictKind, 'invalid'>, () => string>> = {
    matches: () => verdictWords.matches(block),
    consistent: () => verdictWords.consistent(block),
    unpinned: () => verdictWords.unpinned(block),
    foreign: () =>
      verdictWords.foreign(
        shortHash(facts.block.contract),
        chainName(facts.block.chainId, texts.proof, isOnTestChain(shown)),
      ),
  }
  return words[kind]()
}

/** Of a file whose values were changed: the fingerprint that it names, and the one that they give. */
function Difference({ shown: { facts, verification } }: { readonly shown: Checked }) {
  const { expected, found } = texts.proof.expectedIs
  const failed = failedCheck(verification)
  const [given] = /0x[0-9a-f]{64}/.exec(failed?.why ?? '') ?? []
  if (failed?.name !== 'leaf' || facts === undefined || given === undefined) return null
  return (
    <p class="hint">
      {expected}: <code>{shortHash(facts.fingerprint)}</code> · {found}:{' '}
      <code>{shortHash(given)}</code>
    </p>
  )
}

type BodyProps = {
  readonly bundle: Bundle
  readonly shown: Checked
  readonly facts: Facts
  readonly asked: Confirmed | undefined
}

function Body({ bundle, shown, facts, asked }: BodyProps) {
  const beacon = asked?.beacon ?? undefined
  const isOurs = shown.kind === 'matches' || shown.kind === 'consistent'
  const chain = chainName(facts.block.chainId, texts.proof, isOnTestChain(shown))
  return (
    <>
      <TimeBracket facts={facts} beacon={beacon} />
      <div class="proof-two">
        <Measured reading={shown.verification.reading} isOurs={isOurs} />
        {isOurs && <Share bundle={bundle} facts={facts} />}
      </div>
      <Statements checked={shown} facts={facts} isBeaconKnown={beacon !== undefined} />
      <Details facts={facts} chain={chain} />
      <PrintedDetails facts={facts} chain={chain} />
    </>
  )
}
