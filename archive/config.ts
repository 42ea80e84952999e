import { archiveFolder } from '../operate/archive/archive-folder.ts'
import { WrongUsage } from '../runtime/exit.ts'
import { flagOf, readSettings, type SettingsSource } from '../runtime/settings.ts'
import type { About } from './write-catalogue.ts'

export type ArchiveConfig = {
  readonly folder: string
  /** Also write each reading's hash, which every reader can compute. */
  readonly withHashes: boolean
  /** How often it looks whether a day is over and final. */
  readonly everyMs: number
  /** UTC days that readings stay in the store once the archive has them; undefined: for ever. */
  readonly rawDays: number | undefined
  /** UTC days that leaves stay in BLOBS once the archive has their batch; undefined: for ever. */
  readonly blobDays: number | undefined
  readonly about: About
}

/** A day is archived on the next one; and what is late by some hours should find its day in the store. */
const fewestDays = 2

function readDays(
  source: SettingsSource,
  name: 'AIRPROOF_RAW_DAYS' | 'AIRPROOF_BLOB_DAYS',
): number | undefined {
  const days = readSettings(source).int(name)
  if (days === undefined || days >= fewestDays) return days
  throw new WrongUsage(
    `${name} (--${flagOf(name)}) is ${days}, and must be ${fewestDays} or more: a day is archived on the next one. Without it everything stays for ever`,
  )
}

/** @throws WrongUsage that names the variable */
export function readArchiveConfig(source: SettingsSource, dataFolder: string): ArchiveConfig {
  const settings = readSettings(source)
  const title = settings.text('AIRPROOF_NETWORK_NAME')
  return Object.freeze({
    folder: archiveFolder(source, dataFolder),
    withHashes: settings.yes('AIRPROOF_ARCHIVE_HASHES'),
    everyMs: settings.durationMs('AIRPROOF_ARCHIVE_POLL'),
    rawDays: readDays(source, 'AIRPROOF_RAW_DAYS'),
    blobDays: readDays(source, 'AIRPROOF_BLOB_DAYS'),
    about: {
      title,
      publisher: settings.text('AIRPROOF_ATTRIBUTION') ?? title,
      licence: settings.text('AIRPROOF_DATA_LICENCE') ?? null,
    },
  })
}
