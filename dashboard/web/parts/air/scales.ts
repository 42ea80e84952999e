/** The steps by which a quantity is coloured: categories where it has some, even steps otherwise. */
import type { UsCategory } from '../../../../core/air/index/us-bands.ts'
import { type QuantityName, quantities } from '../../../../core/air/quantities.ts'
import { zonesOf } from '../time/zones.ts'
import { categoryWords } from './categories.ts'
import { colorOf } from './palette.ts'
import { unitOf } from './quantity-names.ts'

export type Bin = {
  /** The lowest value that belongs to it. */
  readonly from: number
  /** `#rrggbb` */
  readonly color: string
  /** undefined: it is a range of numbers and no more. */
  readonly words?: string
  /** Of the US index, which has a shape too. */
  readonly category?: UsCategory
}

export type Scale = {
  /** By `from`; the first also takes what is below it. */
  readonly bins: readonly Bin[]
  readonly digits: number
  readonly unit: string
  /** A higher value is worse, so the highest is drawn last. */
  readonly isWorseAbove: boolean
}

export type ShownQuantity = 'aqi' | QuantityName

/** The place of the value in the bins; -1 for null. */
export function binOf({ bins }: Scale, value: number | null): number {
  if (value === null) return -1
  return Math.max(
    0,
    bins.findLastIndex(({ from }) => value >= from),
  )
}

/** Light to dark, so that it is read without colour too. */
const ramp = ['#d9efd0', '#9ad4b4', '#55aaa8', '#2f7296', '#283c70'] as const

/**
 * @param values what is on show: the steps of a quantity without categories follow from them
 */
export function scaleOf(name: ShownQuantity, values: readonly number[]): Scale {
  const quantity = quantities.find((known) => known.name === name)
  const base = {
    digits: quantity?.decimals ?? 0,
    unit: quantity === undefined ? '' : unitOf(quantity.name),
  }
  const zones = zonesOf(name)
  if (zones.length === 0) return { ...base, bins: evenBins(values), isWorseAbove: false }
  const bins = zones.map(({ category, from }) => ({
    from,
    category,
    color: colorOf(category),
    words: categoryWords[category],
  }))
  return { ...base, bins, isWorseAbove: true }
}

/** Five steps of a round size, over nearly all of the values. */
function evenBins(values: readonly number[]): readonly Bin[] {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[Math.floor(sorted.length * 0.05)] ?? 0
  const high = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? low + 1
  const step = roundUp(Math.max((high - low) / ramp.length, 1e-6))
  const start = Math.floor(low / step) * step
  return ramp.map((color, at) => ({ from: rounded(start + at * step), color }))
}

/** 1, 2 or 5 and zeros. */
function roundUp(size: number): number {
  const ten = 10 ** Math.floor(Math.log10(size))
  return ten * ([1, 2, 5].find((part) => part * ten >= size * 0.999) ?? 10)
}

const rounded = (value: number): number => Number(value.toPrecision(10))

type ServedScale = {
  readonly categories: readonly {
    readonly category: string
    readonly aqi: { readonly low: number }
    readonly color: string
    readonly color_vision: string
  }[]
}

/** Of another index than the US one, as `/v1/aqi/scale` gives it. */
export const servedScale = (
  { categories }: ServedScale,
  words: Readonly<Record<string, string>>,
  isVision: boolean,
): Scale => ({
  digits: 0,
  unit: '',
  isWorseAbove: true,
  bins: categories.map(({ category, aqi, color, color_vision: vision }) => ({
    from: aqi.low,
    color: isVision ? vision : color,
    words: words[category] ?? category,
  })),
})
