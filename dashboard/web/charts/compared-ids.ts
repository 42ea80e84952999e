/** Beside the page's own. */
export const mostOthers = 3

/** Those of the address, each once. */
export function comparedIds(text: string, own: string): readonly string[] {
  const ids = text.split(',').map((id) => id.trim())
  const others = new Set(ids.filter((id) => /^[\w-]{1,64}$/.test(id) && id !== own))
  return [...others].slice(0, mostOthers)
}
