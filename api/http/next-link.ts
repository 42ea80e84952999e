import type { Answer } from './answer.ts'
import type { Params } from './params.ts'

/**
 * The next page as a header, for formats that have no field for a cursor. Relative to the request,
 * as RFC 8288 allows, so that it is right behind any proxy.
 * @param parameter which one takes the cursor
 */
export function nextLink(
  path: string,
  params: Params,
  cursor: string | null,
  parameter = 'cursor',
): NonNullable<Answer['headers']> {
  if (cursor === null) return {}
  const next = new URLSearchParams([...params].filter(([name]) => name !== parameter))
  next.set(parameter, cursor)
  return { link: `<${path}?${next.toString()}>; rel="next"` }
}
