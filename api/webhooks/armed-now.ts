import { criticalAqi, defaultAqiThreshold } from '../../core/air/thresholds.ts'
import { isArmedAt } from '../../core/state/apply-reading.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'

/**
 * Is the next rise told, of whichever sensor the webhook is about? By the state that decides it:
 * a sensor whose index rose above the threshold before has to fall far enough first, even though
 * its newest index may be below the threshold.
 */
export function isArmed({ events, filters }: Webhook, board: Pick<SensorBoard, 'all'>): boolean {
  const thresholds = [
    ...(events.includes('aqi.high') ? [filters.aqi_threshold ?? defaultAqiThreshold] : []),
    ...(events.includes('aqi.critical') ? [criticalAqi] : []),
  ]
  if (thresholds.length === 0) return true
  // the thresholds that have fired are all those below some number
  const lowest = Math.min(...thresholds)
  const isMeant = ({ sensor, site }: Entry): boolean =>
    (filters.sensor_id === undefined || sensor.id === filters.sensor_id) &&
    (filters.area === undefined || site.area === filters.area)
  return board
    .all()
    .filter(isMeant)
    .every(({ state, slot }) => slot === -1 || isArmedAt(state, slot, lowest))
}
