/**
 * The level of a reading, in the words of QARTOD, the manual of quality control of ocean sensors. It
 * derives from the reading's flags alone, so it is not stored.
 *
 * Snapshots and other readers of the log rely on it: the level of a flag never changes. What must be
 * judged in another way gets another flag.
 */
import { type Flag, flagNames, maskOf, type OtherFlag } from './quality.ts'
import { type QuantityName, quantityNames } from './quantities.ts'

/** From the best to the worst. */
export const qualityLevels = ['good', 'suspect', 'fail'] as const
export type QualityLevel = (typeof qualityLevels)[number]

/** The index is made from these: where one is dropped, it is the index of half a reading. */
const ofIndex: ReadonlySet<QuantityName> = new Set(['pm25', 'pm10'])

const otherLevels = {
  pm_high: 'suspect',
  pm_saturated: 'fail',
  pm25_over_pm10: 'suspect',
  // a hygrometer at its end says little of the particles, and is at its end on many wet nights
  humidity_stuck: 'suspect',
  time_assigned: 'good',
  pm_flat: 'suspect',
  pm_stuck: 'fail',
  pm_zero: 'suspect',
  pm_spike: 'suspect',
  // of two that differ, either may be right: QARTOD's test of neighbours does not fail a reading either
  pm_unlike_neighbours: 'suspect',
} as const satisfies Record<OtherFlag, QualityLevel>

/** Flag → level. */
// each flag is in one of the three lists
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const levelOfFlag = Object.fromEntries<QualityLevel>([
  ...quantityNames.map(
    (name) => [`dropped_${name}`, ofIndex.has(name) ? 'fail' : 'suspect'] as const,
  ),
  ...flagNames
    .filter((name) => name.endsWith('_unusual'))
    .map((name) => [name, 'suspect'] as const),
  ...Object.entries(otherLevels),
]) as Readonly<Record<Flag, QualityLevel>>

const maskOfLevel = (level: QualityLevel): number =>
  flagNames
    .filter((name) => levelOfFlag[name] === level)
    .reduce((mask, name) => mask | maskOf(name), 0)

/** A reading with one of these flags has failed: it counts in no mean, and raises no alert. */
export const failMask = maskOfLevel('fail')
const suspectMask = maskOfLevel('suspect')

/** The worst level of the flags that are set; bits without a name say nothing. */
export const qualityOf = (flags: number): QualityLevel =>
  (flags & failMask) !== 0 ? 'fail' : (flags & suspectMask) !== 0 ? 'suspect' : 'good'

/** The same of flags by name; another version's names say nothing. */
export const levelOfNames = (names: readonly string[]): QualityLevel =>
  qualityOf(
    flagNames.reduce((bits, name) => (names.includes(name) ? bits | maskOf(name) : bits), 0),
  )

export const isFail = (flags: number): boolean => (flags & failMask) !== 0

/** What `quality=` of a request lets through: all that is at least so good. */
export const qualityFilters = ['good', 'suspect', 'all'] as const
export type QualityFilter = (typeof qualityFilters)[number]
/** What statistics are made of unless a request says otherwise: what is written is made of these. */
export const usualQuality: QualityFilter = 'suspect'

const refusedMasks: Readonly<Record<QualityFilter, number>> = {
  good: failMask | suspectMask,
  suspect: failMask,
  all: 0,
}

/** The flags of which none may be set in a reading that the filter lets through. */
export const refusedMaskOf = (filter: QualityFilter): number => refusedMasks[filter]
