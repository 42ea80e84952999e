import type { SensorId } from '../../core/air/sensor-id.ts'
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
export function isArmed(
  { events, filters }: Webhook,
  board: Pick<SensorBoard, 'get' | 'inUse'>,
): boolean {
  const thresholds = [
    ...(events.includes('aqi.high') ? [filters.aqi_threshold ?? defaultAqiThreshold] : []),
    ...(events.includes('aqi.critical') ? [criticalAqi] : []),
  ]
  if (thresholds.length === 0) return true
  // the thresholds that have fired are all those below some number
  const lowest = Math.min(...thresholds)
  for (const { state, slot } of meantBy(filters, board))
    if (slot !== -1 && !isArmedAt(state, slot, lowest)) return false
  return true
}

function meantBy(
  { sensor_id: sensor, area }: Webhook['filters'],
  board: Pick<SensorBoard, 'get' | 'inUse'>,
): Iterable<Entry> {
  if (sensor === undefined) return board.inUse(area)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- canonical since it was accepted
  const entry = board.get(sensor as SensorId)
  const isMeant = entry?.isInUse === true && (area === undefined || entry.area === area)
  return isMeant ? [entry] : []
}
