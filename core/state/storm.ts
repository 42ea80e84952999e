/**
 * A storm: many sensors fall silent at once, so that the network or our server is to blame rather
 * than each of them. One alarm goes to the operator, and further offline events are held back
 * (`presence.ts` releases them). Process-wide, over all its partitions.
 */

import { minuteMs, secondMs } from '../time.ts'
import { holdMs } from './presence.ts'

export const stormWindowMs = 5 * minuteMs
export const fewestInStorm = 20

export type Storm = {
  /** When the storm under way began, or null. */
  readonly sinceMs: number | null
  /** How many sensors fell silent, by second, within the window: at most 301 entries. */
  readonly falls: readonly { readonly atMs: number; readonly count: number }[]
}

export type StormVerdict = {
  readonly verdict: 'report' | 'hold'
  /** A storm began with this call: one alarm. */
  readonly began: boolean
  readonly storm: Storm
}

export const calm: Storm = { sinceMs: null, falls: [] }

/**
 * The storm after a restart: if sensors are still held, the old one continues without another alarm.
 * @param held sensors held in all partitions of the process
 */
export const stormAfterRestart = (held: number, nowMs: number): Storm =>
  held > 0 ? { sinceMs: nowMs, falls: [] } : calm

/**
 * What to do with sensors just found silent. A storm begins if at least 20, and more than half of
 * those that were online, fell silent within 5 min, and lasts for 15 min.
 * @param newlySilent how many were found now; 0 adds nothing
 * @param online how many sensors of the process are online, the newly silent included
 */
export function judgeSilence(
  storm: Storm,
  newlySilent: number,
  online: number,
  nowMs: number,
): StormVerdict {
  const recent = storm.falls.filter(({ atMs }) => nowMs - atMs < stormWindowMs)
  const before = recent.reduce((sum, { count }) => sum + count, 0)
  const falls = withFall(recent, newlySilent, nowMs)
  if (storm.sinceMs !== null && nowMs - storm.sinceMs < holdMs) {
    return { verdict: 'hold', began: false, storm: { sinceMs: storm.sinceMs, falls } }
  }
  const fallen = before + newlySilent
  const began = newlySilent > 0 && fallen >= fewestInStorm && fallen * 2 > online + before
  return {
    verdict: began ? 'hold' : 'report',
    began,
    storm: { sinceMs: began ? nowMs : null, falls },
  }
}

function withFall(falls: Storm['falls'], count: number, nowMs: number): Storm['falls'] {
  if (count === 0) return falls
  const atMs = Math.floor(nowMs / secondMs) * secondMs
  const last = falls.at(-1)
  if (last?.atMs === atMs) return [...falls.slice(0, -1), { atMs, count: last.count + count }]
  return [...falls, { atMs, count }]
}
