import type { Retention } from '../../schemas/retention.ts'
import type { ExpiredRows } from '../../store/with-expired.ts'

/**
 * `expiredRows` of the archive in a folder. What reads its files (Parquet, hash trees) is loaded at the
 * first question about a reading that was let go: most processes never get one.
 */
export function laterExpiredRows(folder: string, retention: () => Retention): ExpiredRows {
  const open = async (): Promise<ExpiredRows> => {
    const { openArchiveFiles } = await import('./archive-files.ts')
    const { expiredRows } = await import('./expired-rows.ts')
    return expiredRows(openArchiveFiles(folder), retention)
  }
  let opening: Promise<ExpiredRows> | undefined
  const opened = (): Promise<ExpiredRows> => (opening ??= open())
  return {
    beforeMs: () => retention().rawBeforeMs ?? undefined,
    range: async (...query) => await (await opened()).range(...query),
    rangeAll: async (...query) => await (await opened()).rangeAll(...query),
    signature: async (...query) => await (await opened()).signature(...query),
  }
}
