import { useState } from 'preact/hooks'

type CopyProps = { readonly text: string; readonly label?: string }

/** Puts a text into the clipboard and says so. */
export function Copy({ text, label = 'Copy' }: CopyProps) {
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Copy by hand: not allowed here')
    }
    setTimeout(() => setSaid(''), 3000)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said === '' ? label : said}</span>
    </button>
  )
}
