/** What answers for readings and leaves that were let go, for every process and command that reads them. */
import type { Keccak } from '../../core/proof/leaf.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { Retention } from '../../schemas/retention.ts'
import type { Store } from '../../store/store.ts'
import { withExpired } from '../../store/with-expired.ts'
import { openArchiveFiles } from './archive-files.ts'
import { archivedLeaves, withArchivedLeaves } from './archived-leaves.ts'
import { expiredRows } from './expired-rows.ts'

type Options = {
  readonly folder: string
  readonly keccak: Keccak
  readonly retention: () => Retention
  /** See `archived-leaves.ts`. */
  readonly atOnce: 'batch' | 'run'
}

export type Expired = {
  /** With what only the archive has. */
  readonly store: (store: Store) => Store
  readonly blobs: (blobs: BatchBlobs) => BatchBlobs
}

/** Nothing is opened until something expired is asked for. */
export function openExpired({ folder, keccak, retention, atOnce }: Options): Expired {
  const files = openArchiveFiles(folder)
  const rows = expiredRows(files, retention)
  const leaves = archivedLeaves({ folder, files, keccak, atOnce })
  return {
    store: (store) => withExpired(store, rows),
    blobs: (blobs) => withArchivedLeaves(blobs, leaves, () => retention().blobsBeforeBatch),
  }
}
