import { format, texts } from '../../texts.ts'
import type { Beacon } from './ask-node.ts'
import type { Facts } from './facts.ts'
import { Moment } from './moment.tsx'
import { shortHash } from './verdict.ts'

type BracketProps = {
  readonly facts: Facts
  /** As a node has it; undefined: none was asked. */
  readonly beacon: Beacon | undefined
}

/** Between which two blocks the batch was sealed, and what the clocks of sensor and operator say. */
export function TimeBracket({ facts, beacon }: BracketProps) {
  const { time } = texts.proof
  const { timeMs, batch, block } = facts
  return (
    <section class="proof-time" aria-labelledby="proof-time">
      <h3 id="proof-time">{time.title}</h3>
      <dl>
        <div>
          <dt>{time.measured}</dt>
          <dd>
            <Moment at={timeMs} />
            <span class="hint">{time.measuredBy}</span>
          </dd>
        </div>
        <div class="proof-from">
          <dt>{time.notBefore}</dt>
          <dd>
            {beacon !== undefined ? (
              <>
                <Moment at={beacon.timeMs} />
                <span class="hint">{time.ofBlock(format.number(beacon.number))}</span>
              </>
            ) : batch.beacon === undefined ? (
              time.noBeacon
            ) : (
              time.unknownTime(shortHash(batch.beacon))
            )}
          </dd>
        </div>
        <div>
          <dt>{time.sealed}</dt>
          <dd>
            <Moment at={batch.sealedMs} />
            <span class="hint">{time.sealedBy}</span>
          </dd>
        </div>
        <div class="proof-until">
          <dt>{time.notAfter}</dt>
          <dd>
            <Moment at={block.timeMs} />
            <span class="hint">{time.ofBlock(format.number(block.number))}</span>
          </dd>
        </div>
      </dl>
      {timeMs > block.timeMs && <p class="proof-note">{time.clocksDiffer}</p>}
    </section>
  )
}
