import { Filled } from '../../parts/filled.tsx'
import { When } from '../../parts/when.tsx'
import { texts } from '../../texts.ts'
import type { Line } from './stream.ts'

const { line: words } = texts.common

/** How live the page is, in words. */
export function LineState({ line }: { readonly line: Line }) {
  return (
    <p class="line-state badge" role="status" data-state={line.state}>
      {line.state === 'lost' ? (
        <span>
          <Filled text={words.lost} parts={{ when: () => <When at={line.sinceMs} /> }} />
        </span>
      ) : (
        words[line.state]
      )}
    </p>
  )
}
