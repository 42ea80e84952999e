/**
 * What a page keeps in its address: viewport, selection, period, search, order. A link to the page
 * then shows the same, and back, forward and reload restore it.
 *
 * A value that is the usual one is left out. `push` makes a step to which the reader can go back
 * (a selected sensor, another period); without it the present entry changes (typing, moving a map).
 */
import { computed, type ReadonlySignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { go, keep, keptValue, place, steps } from '../router.ts'

/** Every name that is used, so that two parts do not take the same one. */
export type AddressName =
  /** The map's viewport, `lat,lon,zoom`. */
  | 'at'
  /** The sensor whose preview is open. */
  | 'sensor'
  /** The area's slug. */
  | 'area'
  | 'search'
  | 'order'
  /** What the map shows, and how it is averaged; which index. */
  | 'show'
  | 'mean'
  | 'index'
  /** `24h`, `7d`, `30d`, `1y`, or `from..to` as dates of the zone on show. */
  | 'period'
  /** `network`, `mine` or `utc`. */
  | 'zone'
  /** Ids of other sensors, between commas. */
  | 'compare'
  /** The dialog that sends a test to a webhook is open. */
  | 'test'
  /** The fingerprint that a link to a proof names. */
  | 'hash'
  /** The delivery of a webhook. */
  | 'delivery'

type Changes = { readonly [Name in AddressName]?: string | undefined }
type Options = { readonly push?: boolean }

const params = computed(() => new URLSearchParams(place.value.search))
const values = new Map<AddressName, ReadonlySignal<string>>()

/** '' if it is not there. A component that reads it is rendered again when it changes, and not when others do. */
export function addressValue(name: AddressName): string {
  let value = values.get(name)
  if (value === undefined) {
    value = computed(() => params.value.get(name) ?? '')
    values.set(name, value)
  }
  return value.value
}

/** Changes some values and leaves the others; undefined or '' takes one out. */
export function setAddress(changes: Changes, { push = false }: Options = {}): void {
  const { path, search } = place.peek()
  const next = path + searchAfter(search, changes)
  if (next !== path + search) go(next, { replace: !push, isSamePage: true })
}

/** The query string after the changes, with the characters that need no escape as they are. */
export function searchAfter(search: string, changes: Changes): string {
  const params = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') params.delete(name)
    else params.set(name, value)
  }
  const text = String(params).replaceAll('%2C', ',').replaceAll('%3A', ':')
  return text === '' ? '' : `?${text}`
}

/** As `useState`, but kept in the address. @param usual the value when the address has none */
export function useAddress(
  name: AddressName,
  usual = '',
): readonly [string, (value: string, options?: Options) => void] {
  const value = addressValue(name) || usual
  return [value, (next, options) => setAddress({ [name]: next === usual ? '' : next }, options)]
}

/**
 * As `useState`, but kept with the present entry of the history, for what does not belong into a
 * link: how many rows are shown, how far a list is scrolled.
 */
export function useKept<T>(name: string, usual: T): readonly [T, (value: T) => void] {
  // written by the same component
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const read = (): T => (keptValue(name) as T | undefined) ?? usual
  const [value, setValue] = useState(read)
  const step = steps.value
  useEffect(() => setValue(read()), [step, name])
  return [
    value,
    (next) => {
      keep(name, next)
      setValue(next)
    },
  ]
}

export type Viewport = { readonly lat: number; readonly lon: number; readonly zoom: number }

/** `6.5244,3.3792,11.5`; undefined where the address has none, or nonsense. */
export function viewportOf(text: string): Viewport | undefined {
  const parts = text.split(',')
  const [lat = Number.NaN, lon = Number.NaN, zoom = Number.NaN] = parts.map((part) =>
    part.trim() === '' ? Number.NaN : Number(part),
  )
  const isPlace = parts.length === 3 && Math.abs(lat) <= 90 && Math.abs(lon) <= 360
  return isPlace && zoom >= 0 && zoom <= 24 ? { lat, lon, zoom } : undefined
}

export const viewportText = ({ lat, lon, zoom }: Viewport): string =>
  `${Number(lat.toFixed(4))},${Number(lon.toFixed(4))},${Number(zoom.toFixed(2))}`
