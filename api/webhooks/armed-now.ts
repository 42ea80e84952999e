import { criticalAqi, defaultAqiThreshold } from '../../core/air/thresholds.ts'
import { isArmedAt } from '../../core/state/apply-reading.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'

/**
 * Will the webhook receive the next rise of its sensor? Decided by the state that the pipeline
 * uses: a sensor whose index rose above the threshold before must fall far enough first, even if
 * its newest index is below the threshold.
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
