import { countdown, useServerNow } from '../../parts/time/countdown.ts'
import { texts } from '../../texts.ts'
import { Hash } from './hash.tsx'
import { Moment } from './moment.tsx'
import { WaitingPath } from './path.tsx'
import type { Standing } from './standing.ts'

type WaitingProps = {
  readonly standing: Standing
  readonly sensorId: string
  /** The last question got no answer. */
  readonly isCutOff: boolean
}

/** A reading on its way: what it waits for, and a clock that runs down. */
export function Waiting({ standing, sensorId, isCutOff }: WaitingProps) {
  const { waiting, details } = texts.proof
  const nowMs = useServerNow(true)
  const isInBatch = standing.status === 'anchoring'
  const expectedMs = Date.parse(standing.expected_by ?? '')
  const left = countdown(expectedMs, nowMs)
  const reasons: Readonly<Record<string, string>> = waiting.reasons
  return (
    <article class="proof-paper" data-verdict="waiting">
      <header class="proof-head">
        <p class="proof-clock" role="timer" aria-live="off">
          <span class="hint">{waiting.expected}</span>
          <b>{left ?? waiting.anyMoment}</b>
        </p>
        <div role="status">
          <h2>{isInBatch ? waiting.onItsWay : waiting.title}</h2>
          <p>{isInBatch ? (reasons[standing.reason ?? ''] ?? waiting.step) : waiting.words}</p>
          {isCutOff && <p class="error">{waiting.offline}</p>}
        </div>
      </header>
      <WaitingPath sensorId={sensorId} isInBatch={isInBatch} />
      <dl class="facts">
        {Number.isFinite(expectedMs) && (
          <>
            <dt>{waiting.by}</dt>
            <dd>
              <Moment at={expectedMs} />
            </dd>
          </>
        )}
        <dt>{details.fingerprint}</dt>
        <dd>
          <Hash what={details.fingerprint} value={standing.reading_hash} />
        </dd>
      </dl>
    </article>
  )
}
