/**
 * French puts a space before these signs that must not end a line. The catalogues are written with
 * plain ones, and pass through here.
 */
export function spaced<T>(texts: T): T {
  // the shape stays, which the compiler cannot follow through `unknown`
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return withSpaces(texts) as T
}

function withSpaces(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/ (?=[?!:;»])/g, '\u00a0').replaceAll('« ', '«\u00a0')
  if (typeof value === 'function')
    return (...values: readonly unknown[]): unknown => withSpaces(value(...values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, withSpaces(text)]))
}
