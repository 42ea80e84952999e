import type { Verification } from '../../../../anchor/verifier/airproof-verify.js'
import { format, texts } from '../../texts.ts'
import { type Facts, type StepName, type StepState, stepNames, stepState } from './facts.ts'
import { shortHash, type VerdictKind } from './verdict.ts'

/** How a step is drawn: `now` is the one that a waiting reading is at. */
type Look = StepState | 'now'

type Step = {
  readonly name: StepName
  readonly look: Look
  readonly lines: readonly string[]
}

/** The way of a reading into a block: drawn, and ticked off by what the browser has checked. */
export function Path({ steps }: { readonly steps: readonly Step[] }) {
  const { path } = texts.proof
  const said: Readonly<Record<Look, string>> = {
    done: path.done,
    failed: path.failed,
    open: path.open,
    now: path.waiting,
  }
  return (
    <ol class="proof-path" aria-label={path.label}>
      {steps.map(({ name, look, lines }) => (
        <li key={name} data-look={look}>
          <span class="proof-dot">
            <StepMark look={look} />
          </span>
          <span class="proof-step">
            <b>{path[name]}</b>
            <span class="visually-hidden">: {said[look]}. </span>
            {lines.map((line) => (
              <span key={line}>{line}</span>
            ))}
          </span>
        </li>
      ))}
    </ol>
  )
}

const marks: Readonly<Record<Look, string>> = {
  done: 'M5 10.5l3.4 3.4L15 7',
  failed: 'M6 6l8 8M14 6l-8 8',
  open: 'M7 10h6',
  now: 'M10 6v4l2.5 2',
}

const StepMark = ({ look }: { readonly look: Look }) => (
  <svg viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={marks[look]} />
  </svg>
)

type CheckedProps = {
  readonly facts: Facts
  readonly verification: Verification
  readonly kind: VerdictKind
}

export function CheckedPath({ facts, verification, kind }: CheckedProps) {
  const { path } = texts.proof
  const { batch, block } = facts
  const stateOf = (name: StepName): StepState => {
    const state = stepState(name, verification)
    // the block itself stands on what the reader knows of the chain
    return name === 'block' && state === 'done' && kind !== 'matches' ? 'open' : state
  }
  const lines: Readonly<Record<StepName, readonly string[]>> = {
    sensor: [facts.sensorId, signedWords(facts, verification)],
    accepted: [
      path.number(format.number(facts.number)),
      stateOf('accepted') === 'failed' ? path.changed : path.fits,
      shortHash(facts.fingerprint),
    ],
    batch: [
      path.batchNumber(format.number(batch.index)),
      // only a contract of version 2 takes no number twice and leaves none out
      facts.version === 2 && stateOf('batch') === 'done'
        ? path.complete(batch.count)
        : path.counted(batch.count),
    ],
    block: [
      path.blockNumber(format.number(block.number)),
      kind === 'matches' ? path.confirmed : path.notConfirmed,
      shortHash(block.hash),
    ],
  }
  return (
    <Path steps={stepNames.map((name) => ({ name, look: stateOf(name), lines: lines[name] }))} />
  )
}

function signedWords({ isSigned }: Facts, { notAsked }: Verification): string {
  const { path } = texts.proof
  if (!isSigned) return path.unsigned
  return notAsked.some(({ name }) => name === 'signature') ? path.signatureUnchecked : path.signed
}

/** @param status of the API: nothing of it is checked here yet */
export function WaitingPath({
  sensorId,
  isInBatch,
}: {
  readonly sensorId: string
  readonly isInBatch: boolean
}) {
  const { path } = texts.proof
  return (
    <Path
      steps={[
        { name: 'sensor', look: 'done', lines: [sensorId] },
        { name: 'accepted', look: 'done', lines: [] },
        {
          name: 'batch',
          look: isInBatch ? 'done' : 'now',
          lines: isInBatch ? [] : [path.waiting],
        },
        {
          name: 'block',
          look: isInBatch ? 'now' : 'open',
          lines: [isInBatch ? path.waiting : path.next],
        },
      ]}
    />
  )
}
