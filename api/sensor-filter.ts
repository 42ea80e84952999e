import { badParameter } from './api-error.ts'
import type { AreaDirectory } from './area-directory.ts'
import { type Params, readChoice, readNumbers, readWord } from './params.ts'
import type { Entry } from './sensor-board.ts'
import { isOnline } from './sensor-now.ts'

export type SensorFilter = (entry: Entry) => boolean

/** The mean radius of the Earth (IUGG), m. */
const earthRadiusM = 6_371_009
const largestRadiusM = 200_000

type Options = {
  readonly directory: () => AreaDirectory
}

/** @returns undefined where everything is wanted @throws ApiError 400 */
export function readSensorFilter(params: Params, { directory }: Options): SensorFilter | undefined {
  const filters = [
    statusFilter(params),
    areaFilter(params, directory),
    boxFilter(params),
    nearFilter(params),
  ].filter((filter) => filter !== undefined)
  if (filters.length === 0) return undefined
  return (entry) => filters.every((filter) => filter(entry))
}

function statusFilter(params: Params): SensorFilter | undefined {
  const status = readChoice(params, 'status', ['online', 'offline'])
  return status && ((entry) => isOnline(entry) === (status === 'online'))
}

/** An area that nobody knows has no sensors, which is no error here. */
function areaFilter(params: Params, directory: () => AreaDirectory): SensorFilter | undefined {
  const text = readWord(params, 'area')
  if (text === undefined) return undefined
  const area = directory().find(text)
  if (area?.isNetwork) return undefined
  return area === undefined ? () => false : (entry) => entry.site.area === area.name
}

/** West, south, east, north, as GeoJSON orders them; a west above the east spans the antimeridian. */
function boxFilter(params: Params): SensorFilter | undefined {
  const expected =
    'west,south,east,north in degrees with south ≤ north, for example 3.3,6.4,3.5,6.7'
  const box = readNumbers(params, 'bbox', 4, expected)
  if (box === undefined) return undefined
  const [west = 0, south = 0, east = 0, north = 0] = box
  if (!isPlace(south, west) || !isPlace(north, east) || south > north) {
    throw badParameter('bbox', params.get('bbox') ?? '', expected)
  }
  return ({ site: { lat, lon } }) =>
    lat >= south &&
    lat <= north &&
    (west <= east ? lon >= west && lon <= east : lon >= west || lon <= east)
}

function nearFilter(params: Params): SensorFilter | undefined {
  const expected = 'lat,lon in degrees, for example 6.6018,3.3515'
  const near = readNumbers(params, 'near', 2, expected)
  const radius = readNumbers(params, 'radius', 1, radiusExpected)?.[0]
  const given = params.get('radius')
  if (near === undefined) {
    if (given !== undefined) throw badParameter('radius', given, 'given together with near')
    return undefined
  }
  const [lat = 0, lon = 0] = near
  if (!isPlace(lat, lon)) throw badParameter('near', params.get('near') ?? '', expected)
  if (radius === undefined) throw badParameter('radius', '', `given with near: ${radiusExpected}`)
  if (!(radius > 0 && radius <= largestRadiusM)) {
    throw badParameter('radius', given ?? '', radiusExpected)
  }
  return ({ site }) => distanceM(lat, lon, site.lat, site.lon) <= radius
}

const radiusExpected = `metres above 0, at most ${largestRadiusM}`

const isPlace = (lat: number, lon: number): boolean => Math.abs(lat) <= 90 && Math.abs(lon) <= 180

/** Great-circle distance in m (haversine); degrees. */
export function distanceM(latA: number, lonA: number, latB: number, lonB: number): number {
  const radians = Math.PI / 180
  const sinLat = Math.sin(((latB - latA) * radians) / 2)
  const sinLon = Math.sin(((lonB - lonA) * radians) / 2)
  const chord = sinLat ** 2 + Math.cos(latA * radians) * Math.cos(latB * radians) * sinLon ** 2
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(chord)))
}
