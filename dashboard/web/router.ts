/**
 * The reader's place, by the browser's history: no page is loaded from the server twice. An entry
 * of the history also keeps how far the page was scrolled, and what `keep` is given, so that back,
 * forward and reload lead to what was on the screen.
 */
import { computed, signal } from '@preact/signals'

/** The match of an address: the route, and the values of its `:names`. */
export type Match<Route> = {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

type Place = { readonly path: string; readonly search: string }

/** The present address. `search` includes its question mark. */
export const place = signal<Place>({ path: location.pathname, search: location.search })

/** Only the path: what reads it is not rendered again at every press in a search box. */
export const path = computed(() => place.value.path)

/** Counts up at every step back or forward, after which kept values are to be read again. */
export const steps = signal(0)

type Entry = Readonly<Record<string, unknown>>

const entry = (): Entry => {
  const state: unknown = history.state
  // only this file writes it, and a browser may give back what an earlier version wrote
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return typeof state === 'object' && state !== null ? (state as Entry) : {}
}

/** What the present entry of the history keeps under a name. */
export const keptValue = (name: string): unknown => entry()[name]

/** Keeps a value with the present entry of the history; it must be plain data. */
export function keep(name: string, value: unknown): void {
  writeNow()
  history.replaceState({ ...entry(), [name]: value }, '')
}

const writeAfterMs = 300
let waiting: ReturnType<typeof setTimeout> | undefined

/**
 * After a pause: browsers refuse more than some hundred entries in half a minute, and one takes up to
 * a tenth of a second, for which a reader who types would wait.
 */
function writeNow(): void {
  if (waiting === undefined) return
  clearTimeout(waiting)
  waiting = undefined
  history.replaceState(entry(), '', place.value.path + place.value.search)
}

type GoOptions = {
  /** In place of the present entry. */
  readonly replace?: boolean
  /** The page stays where it is scrolled to. */
  readonly isSamePage?: boolean
}

/** Navigates to an address of these pages; the browser handles others. */
export function go(href: string, { replace = false, isSamePage = false }: GoOptions = {}): void {
  const url = new URL(href, location.href)
  if (replace) {
    place.value = { path: url.pathname, search: url.search }
    clearTimeout(waiting)
    waiting = setTimeout(writeNow, writeAfterMs)
    return
  }
  keepScroll()
  history.pushState(isSamePage ? entry() : null, '', href)
  if (!isSamePage) scrollTo(0, 0)
  place.value = { path: url.pathname, search: url.search }
}

const scrollName = 'scroll'

function keepScroll(): void {
  clearTimeout(scrolled)
  if (!isRestoring) keep(scrollName, Math.round(scrollY))
}
let scrolled: ReturnType<typeof setTimeout> | undefined
/** Until then the page is not where the reader left it, and is not to be remembered there. */
let isRestoring = false

const lookEveryMs = 50
/** What loads after the page makes it long enough to be scrolled to where it was. */
const restoreWithinMs = 4_000
/** Once it stayed there for so long, nothing that loads has moved it. */
const settledLooks = 10

function restoreScroll(): void {
  const top = keptValue(scrollName)
  isRestoring = typeof top === 'number' && top > 0
  if (typeof top !== 'number' || top === 0) return
  const untilMs = performance.now() + restoreWithinMs
  const at = place.value
  let looks = 0
  const stop = (): void => {
    isRestoring = false
    for (const kind of kinds) removeEventListener(kind, stop)
  }
  const kinds = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const
  for (const kind of kinds) addEventListener(kind, stop, { passive: true })
  const look = (): void => {
    if (!isRestoring || place.value.path !== at.path) return
    const isThere = Math.abs(scrollY - top) < 2
    looks = isThere ? looks + 1 : 0
    if (looks >= settledLooks || performance.now() > untilMs) return stop()
    if (!isThere && document.documentElement.scrollHeight - innerHeight >= top) scrollTo(0, top)
    setTimeout(look, lookEveryMs)
  }
  // after the page was rendered
  setTimeout(look)
}

/**
 * Follows plain links between pages without a load.
 * @param isOurs whether a path is a page of these
 */
export function followLinks(isOurs: (path: string) => boolean): void {
  history.scrollRestoration = 'manual'
  addEventListener('popstate', () => {
    clearTimeout(waiting)
    waiting = undefined
    place.value = { path: location.pathname, search: location.search }
    steps.value++
    restoreScroll()
  })
  addEventListener(
    'scroll',
    () => {
      clearTimeout(scrolled)
      scrolled = setTimeout(keepScroll, writeAfterMs)
    },
    { passive: true },
  )
  addEventListener('pagehide', keepScroll)
  restoreScroll()
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
