import { categoryAt, categoryWords } from '../../parts/categories.ts'
import type { CitySensor } from './city-sensor.ts'

export type Tooltip = {
  /** @param at pixels in the element */
  readonly show: (sensor: CitySensor, at: { readonly x: number; readonly y: number }) => void
  readonly hide: () => void
}

/** A box that names the sensor under the pointer; the list says the same to everyone. */
export function openTooltip(element: HTMLElement): Tooltip {
  const box = document.createElement('div')
  box.className = 'map-tip'
  box.hidden = true
  element.append(box)
  return {
    show: (sensor, { x, y }) => {
      box.replaceChildren(...linesOf(sensor))
      box.hidden = false
      const half = box.offsetWidth / 2
      const left = Math.min(Math.max(x, half + 4), element.clientWidth - half - 4)
      const isAbove = y > box.offsetHeight + 24
      box.style.transform = `translate(${Math.round(left - half)}px, ${Math.round(isAbove ? y - box.offsetHeight - 18 : y + 18)}px)`
    },
    hide: () => {
      box.hidden = true
    },
  }
}

/** Only as text nodes: addresses are typed by people. */
function linesOf({ id, address, isOnline, aqi }: CitySensor): readonly HTMLElement[] {
  const category = isOnline ? categoryAt(aqi) : null
  const now =
    category === null
      ? isOnline
        ? 'no index'
        : 'offline'
      : `AQI ${aqi}, ${categoryWords[category].toLowerCase()}`
  return (
    [
      ['strong', id],
      ['div', now],
      ['div', address],
    ] as const
  ).map(([tag, text]) => {
    const line = document.createElement(tag)
    line.textContent = text
    return line
  })
}
