import { Filled } from '../../parts/filled.tsx'
import { When } from '../../parts/time/when.tsx'
import { texts } from '../../texts.ts'
import type { Line } from './stream.ts'

const { line: words } = texts.common

type LineStateProps = {
  readonly line: Line
  /** Since when nothing arrives from any sensor, though the page is connected. */
  readonly silentSince: string | undefined
}

/** How live the page is, in words. */
export function LineState({ line, silentSince }: LineStateProps) {
  const isSilent = silentSince !== undefined && line.state !== 'lost'
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
