/**
 * Which sensors measured something else than their neighbours: the mean of PM2.5 over two hours is
 * compared with those of the nearest eight sensors within ten kilometres, of two at least. It is unlike
 * them if it differs from their median by more than 30 µg/m³ and half of the median, and by more than
 * two of their robust standard deviations (1.4826 × the median of what differs from the median). Rules
 * of version 1 (`quality-rules.ts`).
 *
 * 10 km, two hours, three sensors, 30 µg/m³ and two deviations are those of AirGradient's map. Median
 * and half of it are ours: a neighbour that is broken must not move the measure, and a sensor at a motor
 * park is not broken (docs/decisions/0041-quality-by-rules.md has the figures).
 */
import { type Nearest, nearestOf, type Place } from '../air/nearest.ts'
import { median } from '../air/percentile.ts'
import type { SensorId } from '../air/sensor-id.ts'
import { meanOf, type TwoHours } from './two-hours.ts'

const mostNeighbours = 8
const withinKm = 10
const fewestNeighbours = 2
/** Hundredths of µg/m³. */
const leastApart = 3_000
const leastDeviations = 2
const ofNormal = 1.4826

/** Where a sensor measures the air outdoors. */
export type OutdoorPlace = Place & {
  readonly sensor: SensorId
  /** Since when it is there. */
  readonly sinceMs: number
}

type Compared = OutdoorPlace & { readonly mean: number }

/** A sensor that is unlike those named, the nearest first. */
export type Unlike = { readonly sensor: SensorId; readonly among: readonly SensorId[] }

export type Comparison = {
  /** How many sensors are compared. */
  readonly count: number
  /** @param index below `count`  @returns undefined: it is like them, or too few are near */
  readonly of: (index: number) => Unlike | undefined
}

/** @param places in any order; a sensor without one is neither judged nor compared with */
export function compareNeighbours(
  state: TwoHours,
  places: Iterable<OutdoorPlace>,
  endMs: number,
): Comparison {
  const compared: Compared[] = []
  for (const place of places) {
    const mean = meanOf(state, place.sensor, endMs, place.sinceMs)
    if (mean !== undefined) compared.push({ ...place, mean })
  }
  // so that the verdict does not depend on the order in which the registry was read
  compared.sort((a, b) => (a.sensor < b.sensor ? -1 : 1))
  const near = nearestOf(compared, { count: mostNeighbours, withinKm })
  return { count: compared.length, of: (index) => unlikeAt(compared, near, index) }
}

function unlikeAt(compared: readonly Compared[], near: Nearest, index: number): Unlike | undefined {
  const own = compared[index]
  if (own === undefined) return undefined
  const others = near.of(index).flatMap((place) => compared[place] ?? [])
  if (
    !isUnlike(
      own.mean,
      others.map(({ mean }) => mean),
    )
  )
    return undefined
  return { sensor: own.sensor, among: others.map(({ sensor }) => sensor) }
}

/** @param mean of two hours, in hundredths  @param others those of its neighbours */
export function isUnlike(mean: number, others: readonly number[]): boolean {
  if (others.length < fewestNeighbours) return false
  const middle = medianOf(others)
  const apart = Math.abs(mean - middle)
  if (apart <= leastApart + middle / 2) return false
  const deviation = ofNormal * medianOf(others.map((other) => Math.abs(other - middle)))
  return apart > leastDeviations * deviation
}

const medianOf = (numbers: readonly number[]): number =>
  median(numbers.toSorted((a, b) => a - b)) ?? 0
