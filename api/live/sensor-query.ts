/** Which sensors a request wants: every part that is given must fit. */
import { type Box, distanceM, isLonIn } from './region.ts'
import { type Entry, isOnline } from './sensor-now.ts'

export type SensorQuery = {
  readonly isOnline?: boolean
  /** Its name. */
  readonly area?: string
  readonly box?: Box
  readonly circle?: Circle
}

export type Circle = { readonly lat: number; readonly lon: number; readonly radiusM: number }

type Place = Pick<Entry, 'lat' | 'lon'>

export const isWanted = (query: SensorQuery, entry: Entry): boolean =>
  (query.isOnline === undefined || isOnline(entry) === query.isOnline) &&
  (query.area === undefined || entry.area === query.area) &&
  isThere(query, entry)

/** Only what the query says of places. */
export const isThere = ({ box, circle }: SensorQuery, { lat, lon }: Place): boolean =>
  (box === undefined || (lat >= box.south && lat <= box.north && isLonIn(box, lon))) &&
  (circle === undefined || distanceM(circle.lat, circle.lon, lat, lon) <= circle.radiusM)
