/** The title of the window, which a page knows when its data are there. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export const named = signal<{ readonly path: string; readonly title: string } | undefined>(
  undefined,
)

/** @param title undefined until it is known: the route's own is shown */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) named.value = { path: location.pathname, title }
  }, [title])
}
