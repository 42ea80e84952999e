import type { Route } from '../http/answer.ts'
import { openApi } from './document.ts'

/** Every operation, as `GET /v1/areas/{area_name}`. */
const operations = new Set(
  Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  ),
)

/**
 * Returns the routes after checking that the document describes each of them and nothing else: its
 * readers learn of every address, and of none that does not exist.
 * @throws Error that names what is only on one side: a mistake of ours, which every start reports
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
