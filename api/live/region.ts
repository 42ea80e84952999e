/** Where the network is: shows whether a place is empty or has latitude and longitude swapped. */
/** In degrees; an east above 180 spans the antimeridian. */
export type Box = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

export type Site = { readonly lat: number; readonly lon: number }

/** The smallest box with all of a box and of sites; it spans no antimeridian. */
export function withSites(box: Box | undefined, sites: readonly Site[]): Box | undefined {
  let region = box
  for (const { lat, lon } of sites) {
    const { west, south, east, north } = region ?? { west: lon, south: lat, east: lon, north: lat }
    if (region !== undefined && lon >= west && lon <= east && lat >= south && lat <= north) continue
    region = {
      west: Math.min(west, lon),
      south: Math.min(south, lat),
      east: Math.max(east, lon),
      north: Math.max(north, lat),
    }
  }
  return region
}

export const isLonIn = ({ west, east }: Box, lon: number): boolean =>
  (lon >= west && lon <= east) || lon + 360 <= east

/** Whether a box has all of another one. */
export const isAround = (box: Box, { west, south, east, north }: Box): boolean =>
  box.west <= west && box.east >= east && box.south <= south && box.north >= north

const touches = (region: Box, { west, south, east, north }: Box): boolean => {
  const shares = (shift: number): boolean =>
    region.west + shift <= east && region.east + shift >= west
  return region.south <= north && region.north >= south && (shares(0) || shares(360))
}

/** As given it misses the network, and swapped it would not. */
export function isSwappedBox(region: Box | undefined, box: Box): boolean {
  const { west, south, east, north } = box
  const swapped = { west: south, south: west, east: north, north: east }
  return region !== undefined && !touches(region, box) && touches(region, swapped)
}

/** Metres from a place to the nearest of the box. */
function distanceTo({ west, south, east, north }: Box, lat: number, lon: number): number {
  const nearest = (value: number, low: number, high: number): number =>
    Math.min(high, Math.max(low, value))
  return distanceM(lat, lon, nearest(lat, south, north), nearest(lon, west, east))
}

/** The same of a circle. */
export const isSwappedPlace = (
  region: Box | undefined,
  { lat, lon, radiusM }: { readonly lat: number; readonly lon: number; readonly radiusM: number },
): boolean =>
  region !== undefined &&
  Math.abs(lon) <= 90 &&
  distanceTo(region, lat, lon) > radiusM &&
  distanceTo(region, lon, lat) <= radiusM

/** The mean radius of the Earth (IUGG), m. */
const earthRadiusM = 6_371_009

/** Great-circle distance in m (haversine); degrees. */
export function distanceM(latA: number, lonA: number, latB: number, lonB: number): number {
  const radians = Math.PI / 180
  const sinLat = Math.sin(((latB - latA) * radians) / 2)
  const sinLon = Math.sin(((lonB - lonA) * radians) / 2)
  const chord = sinLat ** 2 + Math.cos(latA * radians) * Math.cos(latB * radians) * sinLon ** 2
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(chord)))
}

/** A box with every place that is no further than that from a place, and some others. */
export function boxAround(lat: number, lon: number, radiusM: number): Box {
  const degrees = 180 / Math.PI
  // a hair wider, for rounding
  const angle = (radiusM / earthRadiusM) * (1 + 1e-9) + 1e-12
  const north = lat + angle * degrees
  const south = lat - angle * degrees
  const reach = Math.sin(angle) / Math.cos(lat / degrees)
  // a pole is in it
  if (north >= 90 || south <= -90 || reach >= 1) return { west: -180, east: 180, south, north }
  const span = Math.asin(reach) * degrees + 1e-9
  return { west: lon - span, east: lon + span, south, north }
}
