/** Whether a simulated sensor can measure and send at a time. */
import { hourMs, minuteMs } from '../../core/time.ts'
import type { Draw } from './chance.ts'

/** `cut_off`: it measures and holds what it cannot send; `dark`: it has no power. */
export type Condition = 'sending' | 'cut_off' | 'dark'

const place = 301
const blockMs = 6 * hourMs
const outageChance = 0.12

/** In some blocks of six hours a sensor drops out, for five to sixty minutes. */
export function conditionAt(sensor: number, timeMs: number, draw: Draw): Condition {
  const block = Math.floor(timeMs / blockMs)
  if (draw(place, sensor, block) >= outageChance) return 'sending'
  const lastsMs = (5 + 55 * draw(place, sensor, block, 1)) * minuteMs
  const fromMs = block * blockMs + draw(place, sensor, block, 2) * (blockMs - lastsMs)
  if (timeMs < fromMs || timeMs >= fromMs + lastsMs) return 'sending'
  return draw(place, sensor, block, 3) < 0.6 ? 'cut_off' : 'dark'
}
