/** What one process of all does at a time, each by a lease of its own. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorIdRules } from '../core/air/sensor-id.ts'
import type { Logger } from '../runtime/log.ts'
import { keepImage } from '../runtime/nats/buckets/keep-image.ts'
import type { PackedBucket } from '../runtime/nats/buckets/packed-bucket.ts'
import type { WatchedBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import { parseAnySensor, type RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { tasks } from '../schemas/system-keys.ts'
import type { Store } from '../store/store.ts'
import { type LeasedJob, leasedJob } from './leased-job.ts'
import { judgeNeighbours } from './neighbours/judge-neighbours.ts'
import { neighbourOptions } from './neighbours/neighbour-options.ts'
import type { ExpiredReadings } from './projections/expired-readings.ts'
import { rollUpTask } from './projections/roll-up-task.ts'
import { keepSensorList } from './projections/sensor-list.ts'
import type { Positions } from './projections/stored-positions.ts'
import type { ReadRows } from './read-rows.ts'

type Options = {
  readonly nc: NatsConnection
  readonly rules: SensorIdRules
  readonly sensors: PackedBucket<RegisteredSensor>
  readonly store: Store
  readonly statistics: ExpiredReadings['statistics']
  readonly positions: WatchedBucket<Positions>
  readonly readRows: ReadRows
  readonly nowMs: () => number
  readonly life: Lifetime
  readonly logger: Logger
}

/** @returns by their leases */
export function openJobs(options: Options): ReadonlyMap<string, LeasedJob> {
  const { nc, rules, sensors, store, statistics, positions, readRows, nowMs, logger } = options
  const { pause, stopping } = options.life
  const rollUps = {
    store: statistics,
    positions,
    readRows,
    nowMs,
    pause,
    onFailure: (error: unknown) => logger.warn({ err: error }, 'statistics: trying again'),
  }
  const judging = neighbourOptions({ nc, sensors, pause, logger, readRows })
  const listing = {
    registry: sensors.viewedBy((value, key, _writtenMs, isFine) =>
      parseAnySensor(value, rules, key, isFine),
    ),
    store,
    nowMs,
    pause,
    onFailure: (error: unknown) => logger.warn({ err: error }, 'the list of sensors: trying again'),
  }
  const imaging = {
    nc,
    bucket: buckets.sensors,
    held: sensors,
    onFailure: (error: unknown) =>
      logger.debug({ err: error }, 'the image of sensors: trying again'),
  }
  return new Map([
    [tasks.sensorList, leasedJob((until) => keepSensorList(listing, until), stopping)],
    [tasks.sensorsImage, leasedJob((until) => keepImage(imaging, until), stopping)],
    [tasks.rollUp, leasedJob((until) => rollUpTask(rollUps, until), stopping)],
    [tasks.neighbours, leasedJob((until) => judgeNeighbours(judging, until), stopping)],
  ])
}
