import type { Route } from '../http/answer.ts'
import { openApi } from './document.ts'

/** Every operation, as `GET /v1/areas/{area_name}`. */
const operations = new Set(
  Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  ),
)

/**
 * The routes, each of which the document describes, and all that it describes: whoever reads it
 * reads of everything that there is, and calls nothing that is not.
 * @throws Error that names what is on one side alone: a fault of ours, found by any start
 */
export function documented(routes: readonly Route[]): readonly Route[] {
  const served = new Set(
    routes
      .filter(({ isPart }) => isPart !== true)
      .map(({ method = 'GET', path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
  )
  const apart = [...served.symmetricDifference(operations)]
  if (apart.length === 0) return routes
  throw new Error(`the routes and api/openapi/document.ts differ in ${apart.join(', ')}`)
}
