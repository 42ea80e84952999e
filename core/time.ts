export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** How far a sensor's clock may be ahead of the broker's. */
export const futureToleranceMs = 5 * minuteMs

/** The start of the `stepMs` slot that holds `timeMs`, both in ms since the epoch, UTC. */
export const floorTo = (timeMs: number, stepMs: number): number =>
  Math.floor(timeMs / stepMs) * stepMs
