/** A check, and what all of them have in common: the settings, one connection to NATS, the time. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { RunningInstance } from '../../runtime/machine/running-instance.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import type { SettingsSource } from '../../runtime/settings.ts'
import type { Finding } from './finding.ts'
import type { Messages } from './look-at-all.ts'

export type World = {
  readonly source: SettingsSource
  readonly config: SharedConfig
  /** What `up` left in the data folder, if it runs here. */
  readonly running: RunningInstance | undefined
  /** One connection for all. @throws MustAct or TryAgain, in words */
  readonly nats: () => Promise<NatsConnection>
  /** The instance has its streams. */
  readonly isMade: () => Promise<boolean>
  readonly nowMs: () => number
  /** Free space that the data folder needs. */
  readonly needsBytes: number
  /** Looked at once. */
  readonly messages: () => Promise<Messages>
  /** Aborted when the time for all of it is over, or by Ctrl-C. */
  readonly stop: AbortSignal
}

export type Check = {
  readonly name: string
  /** Without it the check is skipped; the check named `NATS` says why. */
  readonly needs: 'nothing' | 'NATS' | 'streams'
  /** `airproof up` does it before it starts anything. */
  readonly isBeforeUp?: true
  /** Throws in words what is broken. */
  readonly run: (world: World) => Promise<readonly Finding[]> | readonly Finding[]
}
