import type { ComponentChildren, ComponentProps } from 'preact'
import { useId } from 'preact/hooks'

export type FieldProps = {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly value: string
  readonly onValue: (value: string) => void
  readonly input?: ComponentProps<'input'>
}

/** One line of a form: label, input, hint and error, tied together for screen readers. */
export function Field({ label, hint, error, value, onValue, input = {} }: FieldProps) {
  const id = useId()
  const described = [
    hint === undefined ? '' : `${id}-hint`,
    error === undefined ? '' : `${id}-error`,
  ]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        id={id}
        value={value}
        aria-invalid={error !== undefined}
        aria-describedby={described.join(' ').trim() || undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} class="hint">
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span id={`${id}-error`} class="error">
          {error}
        </span>
      )}
    </div>
  )
}
