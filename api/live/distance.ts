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
