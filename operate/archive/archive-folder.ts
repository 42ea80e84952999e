import { join, resolve } from 'node:path'
import { readSettings, type SettingsSource } from '../../runtime/settings.ts'

/** Where the archive is: the process writes it there, the API serves it from there. */
export const archiveFolder = (source: SettingsSource, dataFolder: string): string =>
  resolve(readSettings(source).text('AIRPROOF_ARCHIVE_DIR') ?? join(dataFolder, 'archive'))
