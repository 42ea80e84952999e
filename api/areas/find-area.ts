import { ApiError } from '../http/api-error.ts'
import type { Area, AreaDirectory } from '../live/area-directory.ts'

/**
 * The area that a path or a parameter names. One rule for both, as for sensors: an unknown area is
 * 404. In a body it is a wrong field.
 * @throws ApiError 404
 */
export function findArea(directory: AreaDirectory, text: string): Area {
  const area = directory.find(text)
  if (area !== undefined) return area
  throw new ApiError(404, 'area_not_found', 'there is no such area; GET /v1/areas lists them', {
    details: { area_name: text.slice(0, 100) },
  })
}
