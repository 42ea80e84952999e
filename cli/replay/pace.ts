/** How fast an archive's time passes, and when each reading is due. In ms since the epoch. */
export type Pace = {
  /** When a reading is due on our clock; 0: at once. */
  readonly dueMs: (timeMs: number) => number
  /** What is added to every timestamp. */
  readonly shiftMs: number
}

export type PaceOptions = {
  /** Archive time over our time; Infinity: as fast as possible. */
  readonly speed: number
  readonly shiftToNow: boolean
  readonly firstMs: number
  readonly lastMs: number
  readonly nowMs: number
}

/**
 * Shifted to now, no reading is sent before its time: at real speed each is fresh when it is sent,
 * and at a higher speed the last one is.
 */
export function paceOf({ speed, shiftToNow, firstMs, lastMs, nowMs }: PaceOptions): Pace {
  const spanMs = lastMs - firstMs
  const shiftMs = shiftToNow ? nowMs - (speed < 1 ? firstMs : lastMs - spanMs / speed) : 0
  return {
    dueMs: (timeMs) => (speed === Infinity ? 0 : nowMs + (timeMs - firstMs) / speed),
    shiftMs: Math.floor(shiftMs),
  }
}
