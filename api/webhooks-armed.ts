import { criticalAqi, defaultAqiThreshold, type Webhook } from '../schemas/webhook.ts'
import type { Entry, SensorBoard } from './sensor-board.ts'
import { newestReading } from './sensor-now.ts'

/**
 * Would the next rise be told? False where the latest index of some sensor that the webhook is
 * about lies above a threshold of its: that sensor must fall and rise again first.
 */
export function isArmed({ events, filters }: Webhook, board: SensorBoard): boolean {
  const thresholds = [
    ...(events.includes('aqi.high') ? [filters.aqi_threshold ?? defaultAqiThreshold] : []),
    ...(events.includes('aqi.critical') ? [criticalAqi] : []),
  ]
  if (thresholds.length === 0) return true
  const lowest = Math.min(...thresholds)
  const isAbove = (entry: Entry): boolean => (newestReading(entry)?.aqi ?? 0) > lowest
  const isMeant = ({ sensor, site }: Entry): boolean =>
    (filters.sensor_id === undefined || sensor.id === filters.sensor_id) &&
    (filters.area === undefined || site.area === filters.area)
  return !board.all().some((entry) => isMeant(entry) && isAbove(entry))
}
