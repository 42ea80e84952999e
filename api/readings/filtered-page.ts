/** A page of readings that are good enough: what is not is left out, and counted. */
import { type QualityFilter, qualityFilters, refusedMaskOf } from '../../core/air/quality-level.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { Cursor } from '../../store/store.ts'
import { type Params, readChoice } from '../http/params.ts'

/** @param otherwise readings are all shown, and not all averaged @throws ApiError 400 */
export const readQuality = (params: Params, otherwise: QualityFilter = 'all'): QualityFilter =>
  readChoice(params, 'quality', qualityFilters) ?? otherwise

/** At most `limit` of the readings after a place. */
export type ReadMore = (
  after: Cursor | undefined,
  limit: number,
) => Promise<readonly Reading[]> | readonly Reading[]

export type FilteredPage = {
  readonly readings: readonly Reading[]
  /** The page ends after it, and there may be more; undefined: it ends with the period. */
  readonly last: Cursor | undefined
  readonly leftOut: number
}

/** Years of a stuck sensor must not be read for one request: the client goes on from where it ends. */
const mostReads = 5
const fewestPerRead = 200

/** @param after where the page begins */
export async function filteredPage(
  filter: QualityFilter,
  limit: number,
  after: Cursor | undefined,
  read: ReadMore,
): Promise<FilteredPage> {
  const refused = refusedMaskOf(filter)
  const readings: Reading[] = []
  const perRead = refused === 0 ? limit + 1 : Math.max(limit + 1, fewestPerRead)
  let leftOut = 0
  let place = after
  for (let reads = 0; reads < mostReads; reads++) {
    const rows = await read(place, perRead)
    for (const row of rows) {
      // there is at least one after the last of the page
      if (readings.length === limit) return { readings, last: place, leftOut }
      place = row
      if ((row.flags & refused) === 0) readings.push(row)
      else leftOut++
    }
    if (rows.length < perRead) return { readings, last: undefined, leftOut }
  }
  return { readings, last: place, leftOut }
}
