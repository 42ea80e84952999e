import { useState } from 'preact/hooks'

type CopyProps = { readonly text: string; readonly label?: string }

/** Copies a text to the clipboard and confirms it. */
export function Copy({ text, label = 'Copy' }: CopyProps) {
  const [confirmation, setConfirmation] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setConfirmation('Copied')
    } catch {
      setConfirmation('Copy by hand: not allowed here')
    }
    setTimeout(() => setConfirmation(''), 3000)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{confirmation === '' ? label : confirmation}</span>
    </button>
  )
}
