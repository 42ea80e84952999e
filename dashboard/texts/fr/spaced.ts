/**
 * French puts a narrow space that ends no line before these signs, and inside its quotation marks. The
 * catalogues are written with plain spaces, and pass through here.
 */
export function spaced<T>(texts: T): T {
  // the shape stays, which the compiler cannot follow through `unknown`
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return withSpaces(texts) as T
}

function withSpaces(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/[ \u00a0](?=[?!:;»])/g, '\u202f').replaceAll(/«[ \u00a0]/g, '«\u202f')
  if (typeof value === 'function')
    return (...values: readonly unknown[]): unknown => withSpaces(value(...values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, withSpaces(text)]))
}
