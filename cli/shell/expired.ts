/** What the archive has of readings and leaves that were let go, for a command that reads all in a row. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Keccak } from '../../core/proof/leaf.ts'
import { archiveFolder } from '../../operate/archive/archive-folder.ts'
import { type Expired, openExpired } from '../../operate/archive/open-expired.ts'
import { readRetention } from '../../runtime/nats/retention.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import type { SettingsSource } from '../../runtime/settings.ts'

export async function openExpiredOf(
  nc: NatsConnection,
  { dataFolder }: Pick<SharedConfig, 'dataFolder'>,
  source: SettingsSource,
  keccak: Keccak,
): Promise<Expired> {
  const retention = await readRetention(nc)
  const folder = archiveFolder(source, dataFolder)
  return openExpired({ folder, keccak, retention: () => retention, atOnce: 'run' })
}
