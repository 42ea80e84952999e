import { secondMs } from '../core/time.ts'
import { archiveFolder } from '../operate/archive/archive-folder.ts'
import { readSettings, type SettingsSource } from '../runtime/settings.ts'
import type { About } from './write-catalogue.ts'

export type ArchiveConfig = {
  readonly folder: string
  /** Also write each reading's hash, which every reader can compute. */
  readonly withHashes: boolean
  /** How often it looks whether a day is over and final. */
  readonly everyMs: number
  readonly about: About
}

/** @throws WrongUsage that names the variable */
export function readArchiveConfig(source: SettingsSource, dataFolder: string): ArchiveConfig {
  const settings = readSettings(source)
  const title = settings.text('AIRPROOF_NETWORK_NAME', { default: 'Lagos' })
  return Object.freeze({
    folder: archiveFolder(source, dataFolder),
    withHashes: settings.yes('AIRPROOF_ARCHIVE_HASHES'),
    everyMs: settings.durationMs('AIRPROOF_ARCHIVE_POLL', { default: 60 * secondMs }),
    about: {
      title,
      publisher: settings.text('AIRPROOF_ATTRIBUTION', { default: title }),
      licence: settings.text('AIRPROOF_DATA_LICENCE') ?? null,
    },
  })
}
