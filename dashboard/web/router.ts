/** The reader's place, by the browser's history: no page is loaded from the server twice. */
import { signal } from '@preact/signals'

/** The match of an address: the route, and the values of its `:names`. */
export type Match<Route> = {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** The present address. `search` includes its question mark. */
export const place = signal({ path: location.pathname, search: location.search })

const show = (): void => {
  place.value = { path: location.pathname, search: location.search }
}

/** Navigates to an address of these pages; the browser handles others. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href)
  else {
    history.pushState(null, '', href)
    scrollTo(0, 0)
  }
  show()
}

/**
 * Follows plain links between pages without a load.
 * @param isOurs whether a path is a page of these
 */
export function followLinks(isOurs: (path: string) => boolean): void {
  addEventListener('popstate', show)
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href, location.href)
    if (url.origin !== location.origin || !isOurs(url.pathname)) return
    if (url.hash !== '' && url.pathname === location.pathname) return
    event.preventDefault()
    go(url.pathname + url.search)
  })
}
