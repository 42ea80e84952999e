import type { ArchiveFormat } from './archive-format.ts'
import { ndjson } from './ndjson.ts'
import { sensorCommunity } from './sensor-community.ts'
import { sensorsAfrica } from './sensors-africa.ts'

/** The only list of formats: commands, their help and their errors are made from it. */
export const archiveFormats = {
  'sensors-africa': sensorsAfrica,
  'sensor-community': sensorCommunity,
  ndjson,
} as const satisfies Record<string, ArchiveFormat>

export type ArchiveFormatName = keyof typeof archiveFormats

export const isArchiveFormatName = (text: unknown): text is ArchiveFormatName =>
  typeof text === 'string' && Object.hasOwn(archiveFormats, text)

export const archiveFormatNames: readonly ArchiveFormatName[] =
  Object.keys(archiveFormats).filter(isArchiveFormatName)

export const holdsMessages = (name: ArchiveFormatName): boolean =>
  archiveFormats[name].holds === 'messages'

/** Those whose files hold the places of sensors, so that sensors can be registered from them. */
export const placedFormatNames: readonly ArchiveFormatName[] = archiveFormatNames.filter(
  (name) => !holdsMessages(name),
)
