/**
 * Pages of sensors, by id or by distance. Lists, counts and the index of sites are kept as sensors change, so a
 * page costs what it shows; with a box, a circle, or a condition on each sensor, what lies in them.
 */
import type { DistancePlace } from '../http/cursor.ts'
import { boxAround, distanceM, isAround } from './region.ts'
import type { SensorBoard } from './sensor-board.ts'
import type { Entry } from './sensor-now.ts'
import { isThere, type SensorQuery } from './sensor-query.ts'
import { firstWhere } from './sorted-rows.ts'

/** A sensor of a page; the distance is given if the request names a place. */
export type Found = { readonly entry: Entry; readonly distanceM: number | undefined }

export type FoundPage = {
  readonly shown: readonly Found[]
  /** Of all pages. */
  readonly total: number
  readonly hasMore: boolean
}

type Board = Pick<SensorBoard, 'table' | 'entryAt' | 'counts'>

type Wanted = {
  readonly query: SensorQuery
  readonly limit: number
  /** A further condition. */
  readonly isFine?: ((entry: Entry) => boolean) | undefined
}

type ById = Wanted & {
  /** An id, after which the page starts. */
  readonly after: string | undefined
}

/** In the order of ids. */
export function pageById(board: Board, wanted: ById): FoundPage {
  const { query, limit, isFine, after } = wanted
  const { rows: names } = board.table()
  const rows = rowsOf(board, query)
  const start = after === undefined ? 0 : firstWhere(rows, (row) => names.keyOf(row) > after)
  const isMeant = meantOf(board, wanted)
  const shown: Found[] = []
  let at = start
  for (; at < rows.length; at++) {
    const row = rows[at] ?? 0
    if (!isMeant(row)) continue
    if (shown.length === limit) break
    shown.push({ entry: board.entryAt(row), distanceM: undefined })
  }
  const isOfAll = query.isOnline === undefined && isFine === undefined
  return {
    shown,
    total: isOfAll ? rows.length : countOf(board, wanted, rows),
    hasMore: at < rows.length,
  }
}

export type Place = { readonly lat: number; readonly lon: number }

type ByDistance = Wanted & {
  readonly from: Place
  readonly after: DistancePlace | undefined
}

/** By distance from a place, and by id where that is equal. */
export function pageByDistance(board: Board, wanted: ByDistance): FoundPage {
  const { query, limit, from, after } = wanted
  const table = board.table()
  const isMeant = meantOf(board, wanted)
  const distanceTo = (row: number): number =>
    distanceM(from.lat, from.lon, table.latOf(row), table.lonOf(row))
  const isAfter = (row: number, distance: number): boolean => {
    const beyond = distance - (after?.distanceM ?? -1)
    return beyond > 0 || (beyond === 0 && table.rows.keyOf(row) > (after?.id ?? ''))
  }
  const rows = rowsOf(board, query)
  /** Those of `some` that follow, if there are as many as are shown, and one more. */
  const following = (some: Iterable<number>, withinM: number) => {
    const places: { readonly row: number; readonly distanceM: number }[] = []
    for (const row of some) {
      if (!isMeant(row)) continue
      const distance = distanceTo(row)
      if (distance <= withinM && isAfter(row, distance)) places.push({ row, distanceM: distance })
    }
    return places
  }
  const isOfNetwork = rows === table.inUse.all()
  let places: ReturnType<typeof following> | undefined
  if (isOfNetwork && wanted.isFine === undefined)
    for (let radiusM = firstRadiusM(board, limit, after); radiusM < farthestM; radiusM *= 2) {
      places = following(table.near(boxAround(from.lat, from.lon, radiusM)), radiusM)
      if (places.length > limit) break
      places = undefined
    }
  places ??= following(rows, Infinity)
  places.sort((a, b) => a.distanceM - b.distanceM || table.rows.compareKeys(a.row, b.row))
  return {
    shown: places
      .slice(0, limit)
      .map(({ row, distanceM: distance }) => ({ entry: board.entryAt(row), distanceM: distance })),
    total: countOf(board, wanted, rows),
    hasMore: places.length > limit,
  }
}

/** Half of a meridian is 20,015 km. */
const farthestM = 10_000_000

/** A circle with about twice as many sensors as are wanted, if they were spread evenly over the network. */
function firstRadiusM(board: Board, limit: number, after: DistancePlace | undefined): number {
  const table = board.table()
  const { west, east, south, north } = table.region() ?? { west: 0, east: 0, south: 0, north: 0 }
  const degreeM = 111_000
  const part = (2 * limit) / Math.max(1, table.inUse.size)
  const radiusM = degreeM * Math.sqrt(((east - west) * (north - south) * part) / Math.PI)
  // with what is nearer than the place after which it begins
  return Math.max(10, Math.hypot(radiusM, after?.distanceM ?? 0))
}

/** Those that fit, but for `isOnline`, by id. */
function rowsOf(board: Board, query: SensorQuery): Uint32Array {
  const { area, box, circle } = query
  const table = board.table()
  const region = table.region()
  const isNarrowing = box !== undefined && (region === undefined || !isAround(box, region))
  if (circle === undefined && !isNarrowing)
    return area === undefined ? table.inUse.all() : table.inArea(area)
  return table.found({ area, box, circle }, () => {
    const around = circle && boxAround(circle.lat, circle.lon, circle.radiusM)
    const rows = table
      .near(around ?? box ?? { west: -180, east: 180, south: -90, north: 90 })
      .filter(
        (row) =>
          (area === undefined || table.isIn(row, area)) &&
          isThere(query, { lat: table.latOf(row), lon: table.lonOf(row) }),
      )
    return table.inOrder(rows)
  })
}

function meantOf(board: Board, { query: { isOnline }, isFine }: Wanted): (row: number) => boolean {
  const counts = board.counts()
  return (row) =>
    (isOnline === undefined || counts.isOnline(row) === isOnline) &&
    (isFine === undefined || isFine(board.entryAt(row)))
}

function countOf(board: Board, wanted: Wanted, rows: Uint32Array): number {
  const { isOnline } = wanted.query
  if (wanted.isFine === undefined && isOnline === undefined) return rows.length
  if (wanted.isFine === undefined && rows === board.table().inUse.all())
    return isOnline === true ? board.counts().online() : rows.length - board.counts().online()
  const isMeant = meantOf(board, wanted)
  let count = 0
  for (const row of rows) if (isMeant(row)) count++
  return count
}
