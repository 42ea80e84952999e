import { useEffect, useRef } from 'preact/hooks'

/** Moves the focus to a form's first wrong field when an answer names it. */
export function useFirstWrong(wrong: ReadonlyMap<string, string>) {
  const form = useRef<HTMLFormElement>(null)
  const named = [...wrong.keys()].join(' ')
  useEffect(() => {
    if (named === '') return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [named])
  return form
}
