import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../../core/iso-time.ts'
import type { Logger } from '../../runtime/log.ts'
import type { WatchedBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { ReadRows } from '../read-rows.ts'
import type { NeighbourOptions } from './judge-neighbours.ts'
import { reportNeighbours } from './reports.ts'

type Opened = {
  readonly nc: NatsConnection
  readonly sensors: WatchedBucket<RegisteredSensor>
  readonly readRows: ReadRows
  readonly pause: (ms: number) => Promise<void>
  readonly logger: Logger
}

/** What the task of neighbours needs, from what the process has opened. */
export const neighbourOptions = ({
  nc,
  sensors,
  readRows,
  pause,
  logger,
}: Opened): NeighbourOptions => ({
  nc,
  readRows,
  sensors: function* () {
    for (const [, sensor] of sensors.entries()) yield sensor
  },
  report: (judged) => {
    const left = reportNeighbours(nc, judged)
    if (left > 0)
      logger.warn(
        { left },
        'neighbours: too many sensors are unlike the others, some are not flagged',
      )
  },
  onTrimmed: (sinceMs) =>
    logger.info(
      { since: formatIso(sinceMs) },
      'neighbours: the log was trimmed: sensors are judged from two hours after its beginning',
    ),
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  pause,
  onFailure: (error) => logger.warn({ err: error }, 'neighbours: trying again'),
})
