/**
 * One clock for every relative time on the page, so that no row's time stands still when no news
 * comes. It goes by the server's time: a reader's computer may be wrong by a day.
 */
import { signal } from '@preact/signals'

const tickMs = 5_000
/** `Date` has whole seconds, and an answer was some time on its way. */
const toleranceMs = 3_000

let offsetMs = 0
/** The newest time that the server has sent: answers may come out of order. */
let newestMs = 0
const ticked = signal(Date.now())

/** The server's time, now; it changes nothing on show. */
export const serverMs = (): number => Date.now() + offsetMs

/** The same, to render with: what reads it is rendered again as it goes on. */
export const nowMs = (): number => ticked.value + offsetMs

/** @param date header `Date` of an answer that has just arrived */
export function learnTime(date: string | null): void {
  const sentMs = Date.parse(date ?? '')
  if (!(sentMs > newestMs)) return
  newestMs = sentMs
  const offBy = sentMs - Date.now()
  if (Math.abs(offBy - offsetMs) <= toleranceMs) return
  offsetMs = Math.abs(offBy) <= toleranceMs ? 0 : offBy
  tick()
}

const tick = (): void => {
  ticked.value = Date.now()
}

setInterval(() => {
  if (!document.hidden) tick()
}, tickMs)
document.addEventListener('visibilitychange', tick)
