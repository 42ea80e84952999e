/** West, south, east, north, in degrees. */
export type Box = readonly [west: number, south: number, east: number, north: number]

/** In words, for errors and questions. */
export const boxForm = 'west,south,east,north in degrees, such as 13.0,52.3,13.8,52.7'

/** Where web maps end, in degrees of latitude. */
const mostLatitude = 85

/** @returns the box, or a sentence that says what is wrong; one over 180° east is not a box */
export function parseBox(text: string): Box | string {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = parts
  if (parts.length !== 4 || parts.some(Number.isNaN)) return `must be ${boxForm}`
  if (Math.abs(west) > 180 || Math.abs(east) > 180)
    return 'must be within 180 degrees west and east'
  if (Math.abs(south) > mostLatitude || Math.abs(north) > mostLatitude)
    return `must be within ${mostLatitude} degrees south and north, where web maps end`
  if (west >= east || south >= north)
    return 'must have its west before its east and its south before its north'
  return [west, south, east, north]
}

export const overlap = (a: Box, b: Box): boolean =>
  a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
