/**
 * Which request targets our servers accept: a path from the root and a query, in the characters
 * that RFC 3986 gives them, so that no URL parser reads another path from it than the one that was
 * routed. Absolute and authority form, `#`, `\\`, empty segments, dots as a segment however they are
 * encoded, and control characters are refused.
 */
export type TargetFault = 'too_long' | 'bad_characters'

/** Characters of a target, its query included. */
export const longestTarget = 4_096

const pathCharacters = /^(?:\/(?:[\w\-.~!$&'()*+,;=:@]|%[\da-f]{2})+)*\/?$/i
const queryCharacters = /^[\x21\x22\x24-\x7e]*$/
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i
const control = /%(?:[01][\da-f]|7f)/i

export function targetFault(target: string): TargetFault | undefined {
  if (target.length > longestTarget) return 'too_long'
  const { path, query } = splitTarget(target)
  const isFit =
    path.startsWith('/') &&
    pathCharacters.test(path) &&
    queryCharacters.test(query) &&
    !dotSegment.test(path) &&
    !control.test(path) &&
    isUtf8(path)
  return isFit ? undefined : 'bad_characters'
}

/** At the first `?`. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target, query: '' }
  return { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

function isUtf8(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
