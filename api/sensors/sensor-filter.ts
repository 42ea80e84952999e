import { findArea } from '../areas/find-area.ts'
import { badParameter } from '../http/api-error.ts'
import { type Params, readChoice, readNumbers, readWord } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import { type Box, isSwappedBox, isSwappedPlace } from '../live/region.ts'
import type { SensorQuery } from '../live/sensor-query.ts'

const largestRadiusM = 200_000

type Options = {
  readonly directory: () => AreaDirectory
  /** `near` needs no radius, and then leaves out no sensor. */
  readonly isRadiusOptional?: boolean
}

/** @throws ApiError 400, 404 */
export function readSensorQuery(params: Params, options: Options): SensorQuery {
  const { directory } = options
  const status = readChoice(params, 'status', ['online', 'offline'])
  const area = readArea(params, directory)
  const box = readBox(params, directory)
  const near = readNear(params, options)
  return {
    ...(status !== undefined && { isOnline: status === 'online' }),
    ...(area !== undefined && { area }),
    ...(box !== undefined && { box }),
    ...(near?.radiusM !== undefined && { circle: { ...near, radiusM: near.radiusM } }),
  }
}

/** @returns undefined: the network @throws ApiError 404 */
function readArea(params: Params, directory: () => AreaDirectory): string | undefined {
  const text = readWord(params, 'area')
  const area = text === undefined ? undefined : findArea(directory(), text)
  return area === undefined || area.isNetwork ? undefined : area.name
}

/**
 * West, south, east, north, as in GeoJSON. A west above the east is far more often a mistake than a
 * box across the antimeridian, so such a box must give an east above 180.
 */
function readBox(params: Params, directory: () => AreaDirectory): Box | undefined {
  const expected =
    'west,south,east,north in degrees with west ≤ east and south ≤ north, for example 3.3,6.4,3.5,6.7 (east above 180: across the antimeridian)'
  const numbers = readNumbers(params, 'bbox', 4, expected)
  if (numbers === undefined) return undefined
  const given = params.get('bbox')
  const [west = 0, south = 0, east = 0, north = 0] = numbers
  const box: Box = { west, south, east, north }
  const isBox = isPlace(south, west) && isPlace(north, east > 180 ? east - 360 : east)
  if (!isBox || west > east || south > north) throw badParameter('bbox', given, expected)
  if (isSwappedBox(directory().region, box)) throw badParameter('bbox', given, notSwapped)
  return box
}

const notSwapped = 'a part of the network: latitude and longitude seem to be swapped'

type Near = { readonly lat: number; readonly lon: number; readonly radiusM: number | undefined }

/** The place that `near` names. @throws ApiError 400 */
export function readNear(
  params: Params,
  { directory, isRadiusOptional = false }: Options,
): Near | undefined {
  const expected = 'lat,lon in degrees, for example 6.6018,3.3515'
  const near = readNumbers(params, 'near', 2, expected)
  const radiusM = readNumbers(params, 'radius', 1, radiusExpected)?.[0]
  const given = params.get('radius')
  if (near === undefined) {
    if (given !== undefined) throw badParameter('near', undefined, expected)
    return undefined
  }
  const [lat = 0, lon = 0] = near
  if (!isPlace(lat, lon)) throw badParameter('near', params.get('near'), expected)
  const isMissing = radiusM === undefined
  if (isMissing ? !isRadiusOptional : !(radiusM > 0 && radiusM <= largestRadiusM)) {
    throw badParameter('radius', given, radiusExpected)
  }
  const circle = { lat, lon, radiusM: radiusM ?? largestRadiusM }
  if (isSwappedPlace(directory().region, circle)) {
    throw badParameter('near', params.get('near'), notSwapped)
  }
  return { lat, lon, radiusM }
}

const radiusExpected = `metres above 0, at most ${largestRadiusM}`

const isPlace = (lat: number, lon: number): boolean => Math.abs(lat) <= 90 && Math.abs(lon) <= 180
