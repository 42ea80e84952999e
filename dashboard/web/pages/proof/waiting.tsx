import { countdown, useServerNow } from '../../parts/time/countdown.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { texts } from '../../texts.ts'
import type { Reading } from '../sensor/sensor-data.ts'
import { Hash } from './hash.tsx'
import { InShort, Measured } from './measured.tsx'
import { Moment } from './moment.tsx'
import { WaitingPath } from './path.tsx'
import { newestProof, type Standing } from './standing.ts'

type WaitingProps = {
  readonly standing: Standing
  /** undefined: the API does not list it. */
  readonly reading: Reading | undefined
  readonly sensorId: string
  /** The last question got no answer. */
  readonly isCutOff: boolean
}

/** A reading on its way: what it waits for, and a clock that runs down. */
export function Waiting({ standing, reading, sensorId, isCutOff }: WaitingProps) {
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
          {reading !== undefined && <InShort reading={reading} />}
          <h2>{isInBatch ? waiting.onItsWay : waiting.title}</h2>
          <p>{isInBatch ? (reasons[standing.reason ?? ''] ?? waiting.step) : waiting.words}</p>
          {isCutOff && <p class="error">{waiting.offline}</p>}
          <NewestAnchored sensorId={sensorId} />
        </div>
      </header>
      <WaitingPath sensorId={sensorId} isInBatch={isInBatch} />
      {reading !== undefined && <Measured reading={reading} isOurs />}
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

/** To a reading that can be checked now. */
function NewestAnchored({ sensorId }: Pick<WaitingProps, 'sensorId'>) {
  const { value: href } = useAnswer((signal) => newestProof(sensorId, signal), [sensorId])
  if (href === undefined) return null
  return (
    <p>
      <a href={href}>{texts.proof.waiting.newest}</a>
    </p>
  )
}
