/** Where a place is on this server: its page, and what is handed on of it. */
import type { PlaceNow } from './place-now.ts'

type Which = Pick<PlaceNow, 'kind' | 'id'>

/** Below the server's address. */
export function pathOf({ kind, id }: Which): string {
  if (kind === 'city') return '/'
  return `/${kind}s/${encodeURIComponent(id)}`
}

export function pictureOf({ kind, id }: Which): string {
  if (kind === 'city') return '/card.png'
  return `/${kind}s/${encodeURIComponent(id)}/card.png`
}

/** The whole network is an area too: its slug is accepted like that of any other. */
export const embedOf = ({ kind, id }: Which): string =>
  `/embed/${kind === 'sensor' ? 'sensor' : 'area'}/${encodeURIComponent(id)}`

export const badgeOf = ({ kind, id }: Which): string =>
  `/badge/${kind === 'sensor' ? 'sensor' : 'area'}/${encodeURIComponent(id)}.svg`
