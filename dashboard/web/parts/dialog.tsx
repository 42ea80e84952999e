import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

type DialogProps = {
  readonly title: string
  readonly isOpen: boolean
  /** Also by Escape and by a click beside it. */
  readonly close: () => void
  readonly children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus inside and gives it back. */
export function Dialog({ title, isOpen, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    if (isOpen && !dialog.open) dialog.showModal()
    if (!isOpen && dialog.open) dialog.close()
  }, [isOpen])
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={close}
      onClick={({ target }) => {
        if (target === element.current) close()
      }}
    >
      <div class="dialog-top">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </div>
      {isOpen && children}
    </dialog>
  )
}
