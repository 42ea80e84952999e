import type { ReadonlySignal } from '@preact/signals'
import { Filled } from '../../parts/filled.tsx'
import { When } from '../../parts/time/when.tsx'
import { texts } from '../../texts.ts'
import type { Line } from './stream.ts'

const { line: words } = texts.common

type LineStateProps = {
  readonly line: Line
  /** Since when nothing arrives from any sensor, as an answer of up to some minutes ago has it. */
  readonly silentSince: string | undefined
  /** When the newest reading was measured that arrived since. */
  readonly newestMs: ReadonlySignal<number>
}

/** How live the page is, in words. */
export function LineState({ line, silentSince, newestMs }: LineStateProps) {
  const isSilent =
    silentSince !== undefined && line.state !== 'lost' && newestMs.value <= Date.parse(silentSince)
  return (
    <p class="line-state badge" role="status" data-state={isSilent ? 'silent' : line.state}>
      {isSilent ? (
        <Since text={words.silent} at={silentSince} />
      ) : line.state === 'lost' ? (
        <Since text={words.lost} at={line.sinceMs} />
      ) : (
        words[line.state]
      )}
    </p>
  )
}

type SinceProps = { readonly text: string; readonly at: string | number }

const Since = ({ text, at }: SinceProps) => (
  <span>
    <Filled text={text} parts={{ when: () => <When at={at} /> }} />
  </span>
)
