import { useState } from 'preact/hooks'
import { badgeOf, embedOf } from '../../place-links.ts'
import type { PlaceNow } from '../../place-now.ts'
import { placeWords } from '../../place-words.ts'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { placeTexts } from './texts-of-place.ts'

const { share } = placeTexts.city

/** Hands a page on: by what the reader's device has for it, else by links and code to copy. */
export function Share({ place }: { readonly place: PlaceNow }) {
  const [isOpen, setIsOpen] = useState(false)
  const words = placeWords(place, placeTexts)
  const title = placeTexts.city.title(words.name)
  const frame = `<iframe src="${location.origin}${embedOf(place)}" title="${escaped(title)}" width="340" height="300" style="border:0"></iframe>`
  const badge = location.origin + badgeOf(place)
  const hand = async (): Promise<void> => {
    const data = { title, text: `${words.number} ${words.verdict}`, url: location.href }
    if (typeof navigator.share === 'function' && navigator.canShare?.(data)) {
      try {
        return await navigator.share(data)
      } catch (error) {
        // closed by the reader
        if (error instanceof DOMException && error.name === 'AbortError') return
      }
    }
    setIsOpen(true)
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => void hand()}>
        {share.button}
      </button>
      <Dialog title={share.title} isOpen={isOpen} close={() => setIsOpen(false)}>
        <div class="stack share">
          <Code label={share.link} text={location.href} />
          <Code label={share.embed} text={frame} hint={share.embedHint} />
          <Code label={share.badge} text={`![${mark(title)}](${badge})`} />
          <p>
            <img src={badge} alt={`${words.name}: ${words.number} ${words.verdict}`} height="20" />
          </p>
        </div>
      </Dialog>
    </>
  )
}

type CodeProps = { readonly label: string; readonly text: string; readonly hint?: string }

const Code = ({ label, text, hint }: CodeProps) => (
  <div>
    <div class="row between">
      <strong>{label}</strong>
      <Copy text={text} />
    </div>
    <pre tabIndex={0} aria-label={label}>
      <code>{text}</code>
    </pre>
    {hint !== undefined && <p class="hint">{hint}</p>}
  </div>
)

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Without what ends a text in Markdown, or begins something else. */
const mark = (text: string): string => text.replaceAll(/[[\]()!<>`\\\n]/g, ' ')
