/** What the server already knew when it sent the page, so that the answer is there at once. */
import type { PlaceNow } from '../place-now.ts'

let first: PlaceNow | undefined

/** Once, before the pages are shown: they take the server's words out of the document. */
export function readFirstPlace(): void {
  const text = document.getElementById('first')?.textContent
  // written by our server
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (text !== undefined && text !== null) first = JSON.parse(text) as PlaceNow
}

/** @param id of a sensor, or the slug of an area, as the address has it; '' for the city */
export const firstPlace = (kind: PlaceNow['kind'], id: string): PlaceNow | undefined =>
  first?.kind === kind && (kind === 'city' || first.id === id) ? first : undefined
