/**
 * The page scrolls over the map: the wheel zooms only with ctrl (as a pinch on a touchpad says it),
 * and on a touch screen two fingers move the map.
 */
import type { Map as LeafletMap } from 'leaflet'

type Hint = 'wheel' | 'touch'

const hintMs = 1_500

/** @param tell shows how to move the map; undefined hides it @returns a function that ends this */
export function openGestures(
  map: LeafletMap,
  element: HTMLElement,
  tell: (hint: Hint | undefined) => void,
): () => void {
  const stop = new AbortController()
  const { signal } = stop
  let timer: ReturnType<typeof setTimeout> | undefined
  const hint = (what: Hint): void => {
    tell(what)
    clearTimeout(timer)
    timer = setTimeout(() => tell(undefined), hintMs)
  }
  map.scrollWheelZoom.disable()
  element.addEventListener(
    'wheel',
    (event) => {
      if (event.ctrlKey || event.metaKey) map.scrollWheelZoom.enable()
      else {
        map.scrollWheelZoom.disable()
        hint('wheel')
      }
    },
    { capture: true, passive: true, signal },
  )
  if (matchMedia('(pointer: coarse)').matches) {
    map.dragging.disable()
    element.style.touchAction = 'pan-x pan-y'
    element.addEventListener(
      'touchmove',
      ({ touches }) => {
        if (touches.length === 1) hint('touch')
        else tell(undefined)
      },
      { passive: true, signal },
    )
  }
  return () => {
    clearTimeout(timer)
    stop.abort()
  }
}
