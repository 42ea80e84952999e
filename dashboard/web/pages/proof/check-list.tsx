import type { Verification } from '../../../../anchor/verifier/airproof-verify.js'
import { texts } from '../../texts.ts'

type CheckListProps = { readonly verification: Verification; readonly isOpen: boolean }

/** Every check by name, with the verifier's own words: those are the published program's, in English. */
export function CheckList({ verification: { checks, notAsked }, isOpen }: CheckListProps) {
  const { checks: words } = texts.proof
  const names: Readonly<Record<string, string>> = words
  const rows = [
    ...checks.map(({ name, ok, why }) => ({ name, why, state: ok ? 'held' : 'failed' }) as const),
    ...notAsked.map(({ name, why }) => ({ name, why, state: 'notAsked' }) as const),
  ]
  return (
    <details class="proof-checks card" open={isOpen}>
      <summary>{words.title}</summary>
      <ol>
        {rows.map(({ name, why, state }) => (
          <li key={`${name} ${state}`} data-state={state}>
            <span class="proof-mark" aria-hidden="true">
              {marks[state]}
            </span>
            <span>
              <b>{names[name] ?? name}</b>{' '}
              <span class={state === 'notAsked' ? 'hint' : 'visually-hidden'}>{words[state]}.</span>
              <span class="hint proof-why" lang="en">
                {why}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}

const marks = { held: '✓', failed: '✗', notAsked: '–' } as const
