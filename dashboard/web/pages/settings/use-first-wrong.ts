import { useEffect, useRef } from 'preact/hooks'

/** A form whose first wrong field takes the focus when the answer has named it. */
export function useFirstWrong(wrong: ReadonlyMap<string, string>) {
  const form = useRef<HTMLFormElement>(null)
  const named = [...wrong.keys()].join(' ')
  useEffect(() => {
    if (named === '') return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [named])
  return form
}
