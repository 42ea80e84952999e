import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../texts.ts'

type CopyProps = {
  readonly text: string
  readonly label: string
  /** A small mark in place of the label, which screen readers still have. */
  readonly isIcon?: boolean
}

/** Copies a text and says that it did. */
export function CopyButton({ text, label, isIcon = false }: CopyProps) {
  const [note, setNote] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const { copied, copyFailed } = texts.proof.details
  const copy = async (): Promise<void> => {
    clearTimeout(timer.current)
    try {
      await navigator.clipboard.writeText(text)
      setNote(copied)
    } catch {
      setNote(copyFailed)
    }
    timer.current = setTimeout(() => setNote(''), 3000)
  }
  return (
    <button
      type="button"
      class={isIcon ? 'quiet proof-copy' : ''}
      title={label}
      onClick={() => void copy()}
    >
      {isIcon && note === '' && (
        <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
          <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />
        </svg>
      )}
      <span aria-live="polite" class={isIcon && note === '' ? 'visually-hidden' : ''}>
        {note === '' ? label : note}
      </span>
    </button>
  )
}
