/**
 * The newest state of the network in memory: registry, log and statistics, followed as they change.
 */

import type { NatsConnection } from '@nats-io/transport-node'
import { type SensorIdRules, sensorIdRules } from '../core/air/sensor-id.ts'
import {
  createRollupProgress,
  parseRollupRecord,
  type RollupProgress,
} from '../operate/rollup-progress.ts'
import type { Logger } from '../runtime/log.ts'
import { watchSensors } from '../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { readNetworkId } from '../runtime/nats/network-id.ts'
import { parseAnySensor } from '../schemas/devices/registered-sensor.ts'
import type { Retention } from '../schemas/retention.ts'
import { buckets } from '../schemas/subjects.ts'
import { systemKeys } from '../schemas/system-keys.ts'
import type { Store } from '../store/store.ts'
import { type AreaDirectory, areaDirectory } from './live/area-directory.ts'
import { type LivePicture, openLivePicture } from './live/live-picture.ts'
import { type LogTail, openLogTail } from './live/log-tail.ts'
import { createNewestReadings, type NewestReadings } from './live/newest-readings.ts'
import { keepSeeding } from './live/seed-newest.ts'
import { createSensorBoard, type SensorBoard } from './live/sensor-board.ts'

export type Live = {
  readonly rules: SensorIdRules
  readonly progress: RollupProgress
  readonly newest: NewestReadings
  readonly picture: LivePicture
  /** The id of the network. */
  readonly network: string
  readonly tail: LogTail
  readonly board: SensorBoard
  readonly directory: () => AreaDirectory
}

type Options = {
  readonly nc: NatsConnection
  /** Without what only the archive has: the newest readings are never there. */
  readonly store: Store
  readonly retention: () => Retention
  readonly idPrefix: string
  readonly networkName: string
  readonly nowMs: () => number
  readonly log: Logger
}

export async function openLive(
  { nc, store, retention, idPrefix, networkName, nowMs, log }: Options,
  opened: AsyncDisposableStack,
): Promise<Live> {
  const rules = sensorIdRules(idPrefix)
  const system = opened.use(
    await watchBucket(nc, buckets.system, (value, key) =>
      key === systemKeys.rollup ? parseRollupRecord(value) : undefined,
    ),
  )
  const sensors = opened.use(
    await watchSensors(nc, rules, parseAnySensor, (line) => log.info(line)),
  )
  const progress = createRollupProgress()
  progress.record(system.get(systemKeys.rollup))
  system.onChange(({ key, value }) => {
    if (key === systemKeys.rollup) progress.record(value)
  })
  const newest = createNewestReadings()
  const network = await readNetworkId(nc)
  const picture = opened.use(openLivePicture({ nc, newest, progress, log }))
  const tail = openLogTail({ picture, network })
  const board = createSensorBoard({ sensors, states: picture.states, nowMs })
  picture.onFolded(board.onFolded)
  opened.use(keepSeeding(newest, { store, picture, retention, log }))
  const directory = remembered(board.registryVersion, () =>
    areaDirectory(board.table().outline(), { networkName, idPrefix }),
  )
  return { rules, progress, newest, picture, network, tail, board, directory }
}

/** The result of `make`, until `version` changes. */
function remembered<T>(version: () => number, make: () => T): () => T {
  let cached: { readonly version: number; readonly value: T } | undefined
  return () => {
    if (cached?.version !== version()) cached = { version: version(), value: make() }
    return cached.value
  }
}
