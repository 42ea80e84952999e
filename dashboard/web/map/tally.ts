/** What marks of several sensors tell, counted when it is first asked for. */
import { binOf, type Scale } from '../parts/air/scales.ts'
import type { Item } from './clusters.ts'
import type { Said } from './draw-marks.ts'

export type View<T> = {
  readonly scale: Scale
  /** null: it has none, or is offline. */
  readonly valueFor: (sensor: T) => number | null
}

type MaybeOnline = { readonly isOnline: boolean }

export type Tally<T> = (item: Item<T>) => Said

/** Made again when values change: it remembers what it counted. */
export function openTally<T extends MaybeOnline>({ scale, valueFor }: View<T>): Tally<T> {
  const known = new Map<number, Said>()
  return (item) => {
    if (item.kind === 'one')
      return item.sensor.isOnline
        ? { kind: 'one', value: valueFor(item.sensor) }
        : { kind: 'offline' }
    const counted = known.get(item.cluster) ?? count(item.sensors(), { scale, valueFor })
    known.set(item.cluster, counted)
    return counted
  }
}

function count<T extends MaybeOnline>(sensors: readonly T[], { scale, valueFor }: View<T>): Said {
  const shares = Array.from({ length: scale.bins.length + 1 }, () => 0)
  let sum = 0
  let valued = 0
  for (const sensor of sensors) {
    const value = valueFor(sensor)
    const bin = binOf(scale, value)
    const place = bin === -1 ? scale.bins.length : bin
    shares[place] = (shares[place] ?? 0) + 1
    if (value === null) continue
    sum += value
    valued++
  }
  const value = valued === 0 ? null : sum / valued
  return { kind: 'many', count: sensors.length, value, shares }
}

/** Drawn last is on top: offline ones below all, then the worst highest. */
export const heightOf = (said: Said, { isWorseAbove }: Scale): number => {
  if (said.kind === 'offline') return Number.NEGATIVE_INFINITY
  if (said.value === null) return Number.MIN_SAFE_INTEGER
  return isWorseAbove ? said.value : 0
}
