import type { UsualBounds } from '../core/air/quality.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import type { Logger } from '../runtime/log.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import type { CheckSignature } from './decide/check-signatures.ts'
import type { StormWatch } from './decide/storm-watch.ts'
import type { Beat } from './intake/beat.ts'
import type { Marks } from './log/border.ts'
import type { Log } from './log/commit.ts'
import type { PipelineMetrics } from './metrics.ts'
import type { NeighbourBoard } from './neighbours/reports.ts'
import type { ExpiredReadings } from './projections/expired-readings.ts'
import type { StoreWriter } from './projections/store-writer.ts'
import type { RowsAtHand } from './rows-at-hand.ts'

/** What the workers of all partitions of a process share. */
export type PartitionContext = {
  readonly log: Log
  readonly beat: Beat
  /** What is committed, for what follows the log in this process. */
  readonly atHand: RowsAtHand
  readonly marks: Marks
  readonly logger: Logger
  readonly worker: string
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  readonly registryBarrier: () => Promise<void>
  readonly thresholds: () => readonly number[]
  readonly keccak: Keccak
  readonly checkSignature: CheckSignature
  readonly existing: ExpiredReadings['existing']
  readonly writer: StoreWriter
  readonly storm: StormWatch
  /** The sensors that asked for receipts. */
  readonly wantReceipts: ReadonlySet<string>
  /** What the task of neighbours found. */
  readonly neighbours: Pick<NeighbourBoard, 'newest' | 'done'>
  readonly metrics: PipelineMetrics
  readonly earliestMs: number
  /** The network's own ranges. */
  readonly usual: UsualBounds
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number
  /** A clock that never jumps, ms. */
  readonly monotonicMs: () => number
  /** Another process has the lease now. */
  readonly isTaken: (partition: number) => Promise<boolean>
  /** The worker cannot go on; the process must end. */
  readonly onFatal: (error: unknown) => void
}
