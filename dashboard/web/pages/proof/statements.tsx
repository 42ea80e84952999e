import { format, texts } from '../../texts.ts'
import type { Facts } from './facts.ts'
import { trustInWords } from './trust-words.ts'
import { shortHash } from './verdict.ts'
import type { Checked } from './verifier.ts'

type StatementsProps = {
  readonly checked: Checked
  readonly facts: Facts
  /** A node has named the block that the batch was sealed after. */
  readonly isBeaconKnown: boolean
}

/** Every statement of the certificate, on one side or the other. */
export function Statements({ checked, facts, isBeaconKnown }: StatementsProps) {
  const { statements, trusts } = texts.proof
  return (
    <section class="proof-statements" aria-labelledby="proof-statements">
      <h3 id="proof-statements">{statements.title}</h3>
      <div class="proof-sides">
        <div>
          <h4>{statements.proven}</h4>
          <ul class="proof-proven">
            {provenOf(checked, facts).map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </div>
        <div>
          <h4>{statements.trust}</h4>
          <ul class="proof-trust">
            {checked.verification.trusts
              .filter((trust) => !(isBeaconKnown && trust.startsWith('for "not before"')))
              .map((trust) => {
                const words = trustInWords(trust, trusts)
                return (
                  <li key={trust} lang={words === undefined ? 'en' : undefined}>
                    {words ?? trust}
                  </li>
                )
              })}
            {typeof checked.own === 'object' && checked.kind !== 'foreign' && (
              <li>{trusts.ownNetwork}</li>
            )}
          </ul>
        </div>
      </div>
    </section>
  )
}

function provenOf({ kind, verification }: Checked, facts: Facts): readonly string[] {
  const { statements } = texts.proof
  const block = format.number(facts.block.number)
  const holds = (name: string): boolean => verification.checks.some((check) => check.name === name)
  return [
    statements.existed(block),
    statements.unchanged,
    ...(kind === 'matches' ? [statements.blockReal(block)] : []),
    ...(kind === 'matches' || kind === 'consistent' ? [statements.ofNetwork] : []),
    ...(facts.version === 2 ? [statements.unique] : []),
    ...(holds('signature') ? [statements.signedBy(shortHash(facts.publicKey))] : []),
    ...(holds('code') ? [statements.codeIs] : []),
  ]
}
