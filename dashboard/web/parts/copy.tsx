import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'

const { copy: words } = texts.common

type CopyProps = { readonly text: string; readonly label?: string }

/** Copies a text to the clipboard and confirms it. */
export function Copy({ text, label = words.button }: CopyProps) {
  const [confirmation, setConfirmation] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setConfirmation(words.done)
    } catch {
      setConfirmation(words.byHand)
    }
    setTimeout(() => setConfirmation(''), 3000)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{confirmation === '' ? label : confirmation}</span>
    </button>
  )
}
