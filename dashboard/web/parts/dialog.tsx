import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { texts } from '../texts.ts'

const { dialog: words } = texts.common

type DialogProps = {
  readonly title: string
  readonly isOpen: boolean
  /** Also by Escape, and by a press and a click beside it; typed text is asked about first. */
  readonly close: () => void
  readonly children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus inside and gives it back. */
export function Dialog({ title, isOpen, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const isPressedBeside = useRef(false)
  const [isTyped, setTyped] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const id = useId()
  const clear = (): void => {
    setTyped(false)
    setAsking(false)
  }
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    if (isOpen && !dialog.open) dialog.showModal()
    if (!isOpen && dialog.open) dialog.close()
    if (!isOpen) clear()
  }, [isOpen])
  const leave = (): void => {
    // what was sent and accepted is not in a form any more
    const hasForm = element.current?.querySelector('form') != null
    if (isTyped && hasForm) setAsking(true)
    else close()
  }
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={close}
      onKeyDown={(event) => {
        // before the browser closes it by itself
        if (event.key !== 'Escape') return
        event.preventDefault()
        if (isAsking) setAsking(false)
        else leave()
      }}
      onPointerDown={({ target }) => {
        isPressedBeside.current = target === element.current
      }}
      onClick={({ target }) => {
        // a selection that was dragged out of a field ends in a click beside too
        if (target === element.current && isPressedBeside.current) leave()
      }}
      onInput={({ target }) => {
        if (isText(target)) setTyped(true)
      }}
    >
      <div class="dialog-top">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={leave}>
          {words.close} <span aria-hidden="true">✕</span>
        </button>
      </div>
      {isAsking && (
        <div class="notice warn row between" role="alert">
          <span>{words.discard}</span>
          <span class="actions">
            <button type="button" class="primary" autoFocus onClick={() => setAsking(false)}>
              {words.discardNo}
            </button>
            <button type="button" onClick={close}>
              {words.discardYes}
            </button>
          </span>
        </div>
      )}
      {isOpen && children}
    </dialog>
  )
}

/** A field of words: a choice or a tick is made again at once. */
const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement &&
    !['checkbox', 'radio', 'search', 'file'].includes(target.type))
