/**
 * The quality of a reading's values. A value that no sensor of its kind can measure is dropped; a
 * value that is possible but rare stays, with a flag. Flags are derived from the values, so they
 * are stored and served; a leaf of version 1 leaves them out, one of version 2 has them.
 */
import { type QuantityName, quantities, type Range, type UsualName } from './quantities.ts'
import type { Reading } from './reading.ts'
import { pm10Of, pm25Of, trimmed, type Values, valueOf } from './values.ts'

export type Flag = `dropped_${QuantityName}` | `${UsualName}_unusual` | OtherFlag

/**
 * Flags that do not belong to one quantity, and their bits. Those of a quantity are in its row of
 * the table. Stored and sent: append, never renumber. The names are those on the wire, hence the
 * underscores.
 */
const otherFlags = {
  /** A PM value above 500 µg/m³. */
  pm_high: 5,
  /** A PM value of exactly 999.9 µg/m³, the ceiling of the SDS011. */
  pm_saturated: 6,
  /** More fine dust than fine and coarse together. */
  pm25_over_pm10: 7,
  /** `stuckAfter` equal humidities or more; set by the fold, which knows the previous readings. */
  humidity_stuck: 10,
  /** The sensor sent no time: it is the gate's arrival time. */
  time_assigned: 11,
  // what the history of a sensor says, set by the fold (`core/state/pm-checks.ts`)
  /** The same particles for two hours or more. */
  pm_flat: 23,
  /** The same for six hours or more, which no air is. */
  pm_stuck: 24,
  /** No particle at all for an hour or more. */
  pm_zero: 25,
  /** PM2.5 far above what the sensor measured just before. */
  pm_spike: 26,
  /** Two hours of it are unlike those of the sensors around it (`core/state/unlike-neighbours.ts`). */
  pm_unlike_neighbours: 27,
} as const

/** A flag that does not belong to one quantity. */
export type OtherFlag = keyof typeof otherFlags

/** Flag → bit number in `Reading.flags`, in the order of the bits. No bit is above 30. */
// the names of the table and of the list above
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const flags = Object.fromEntries(
  [
    ...quantities.map(({ name, droppedFlag }) => [`dropped_${name}`, droppedFlag] as const),
    ...quantities.flatMap(({ name, usual }) =>
      usual === undefined ? [] : [[`${name}_unusual`, usual.flag] as const],
    ),
    ...Object.entries(otherFlags),
  ].toSorted(([, a], [, b]) => a - b),
) as Readonly<Record<Flag, number>>

/** The flag as a number with its one bit set, to be or-ed into `Reading.flags`. */
export const maskOf = (flag: Flag): number => 1 << flags[flag]

// Object.keys is typed string[]; the cast only names the strings
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const flagNames = Object.keys(flags) as Flag[]

/** The flags set in `bits`, in bit order; bits without a name are left out. */
export const namesOf = (bits: number): Flag[] =>
  bits === 0 ? [] : flagNames.filter((flag) => (bits & maskOf(flag)) !== 0)

/** This many equal humidities in a row mean a stuck sensor. */
export const stuckAfter = 24

const highPm = 50_000
const saturatedPm = 99_990

const droppedMasks = quantities.map(({ droppedFlag }) => 1 << droppedFlag)
/** The flags of dropped values. */
export const droppedMask = droppedMasks.reduce((all, mask) => all | mask, 0)

const bit = {
  pmHigh: maskOf('pm_high'),
  pmSaturated: maskOf('pm_saturated'),
  pm25OverPm10: maskOf('pm25_over_pm10'),
  timeAssigned: maskOf('time_assigned'),
} as const

/** The ends of the ranges by id, side by side for the loop below. */
const hardLow = quantities.map(({ hard }) => hard.low)
const hardHigh = quantities.map(({ hard }) => hard.high)
const unusualMasks = quantities.map(({ usual }) => (usual === undefined ? 0 : 1 << usual.flag))

/** What is usual in a network; a quantity that is absent has the range of the table. */
export type UsualRanges = Readonly<Partial<Record<UsualName, Range>>>
/** The same by id, for the loop below. */
export type UsualBounds = { readonly low: readonly number[]; readonly high: readonly number[] }

export function usualBounds(own: UsualRanges): UsualBounds {
  const all: Readonly<Partial<Record<QuantityName, Range>>> = own
  const ranges = quantities.map(({ name, usual }) => usual && (all[name] ?? usual))
  return {
    low: ranges.map((range) => range?.low ?? -Infinity),
    high: ranges.map((range) => range?.high ?? Infinity),
  }
}

/** Those of the table. Flags of a reading with leaf 1 follow from them (decision 55). */
export const tableBounds = usualBounds({})

export type Judged = {
  /** The believable values; the very list that was judged if none was dropped. */
  readonly values: Values
  /** All flags but those of a sensor's history. */
  readonly flags: number
  /** No value is left: the reading is out of range, or was empty from the start. */
  readonly nothingLeft: boolean
}

type JudgeValuesOptions = {
  readonly timeAssigned: boolean
  readonly usual?: UsualBounds | undefined
}

/** @param raw already normalised (`hundredths.ts`) */
export function judgeValues(
  raw: Values,
  { timeAssigned, usual = tableBounds }: JudgeValuesOptions,
): Judged {
  let dropped = 0
  let bits = timeAssigned ? bit.timeAssigned : 0
  let left = 0
  for (let id = 0; id < raw.length; id++) {
    const value = raw[id] ?? null
    if (value === null) continue
    if (value < hardLow[id]! || value > hardHigh[id]!) dropped |= droppedMasks[id]!
    else {
      left++
      if (value < usual.low[id]! || value > usual.high[id]!) bits |= unusualMasks[id]!
    }
  }
  const values = dropped === 0 ? raw : without(raw, dropped)
  return { values, flags: dropped | bits | particleBits(values), nothingLeft: left === 0 }
}

const without = (raw: Values, dropped: number): Values =>
  trimmed(raw.map((value, id) => (dropped & droppedMasks[id]! ? null : value)))

function particleBits(values: Values): number {
  const pm25 = pm25Of(values)
  const pm10 = pm10Of(values)
  let bits = 0
  if ((pm25 !== null && pm25 > highPm) || (pm10 !== null && pm10 > highPm)) bits |= bit.pmHigh
  if (pm25 === saturatedPm || pm10 === saturatedPm) bits |= bit.pmSaturated
  if (pm25 !== null && pm10 !== null && pm25 > pm10) bits |= bit.pm25OverPm10
  return bits
}

const particlesMask = bit.pmHigh | bit.pmSaturated | bit.pm25OverPm10
const derivedMask = unusualMasks.reduce((all, mask) => all | mask, particlesMask)

/**
 * What is wrong with the flags of a stored row, by its values alone; undefined: nothing. Not found by
 * them: which values were dropped, whether the sensor sent a time, and whether its humidity was stuck;
 * and what is unusual in a row with leaf 2, which is the network's own, and is in its leaf.
 */
export function flagsFault({
  values,
  flags,
  leafVersion,
}: Pick<Reading, 'values' | 'flags' | 'leafVersion'>): string | undefined {
  const { flags: judged } = judgeValues(values, { timeAssigned: false })
  const impossible = namesOf(judged & droppedMask)
  if (impossible.length > 0) return `values that no sensor measures (${impossible.join(', ')})`
  const mask = leafVersion === 2 ? particlesMask : derivedMask
  const [has, should] = [flags & mask, judged & mask]
  if (has !== should) return `flags ${listOf(has)}, where its values give ${listOf(should)}`
  const both = quantities.filter(
    ({ name, droppedFlag }) => (flags & (1 << droppedFlag)) !== 0 && valueOf(values, name) !== null,
  )
  return both.length === 0
    ? undefined
    : `${both.map(({ name }) => name).join(', ')} marked as dropped, and there`
}

const listOf = (bits: number): string => namesOf(bits).join(', ') || 'none'
