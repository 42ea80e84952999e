import type { ArchiveFormat } from './archive-format.ts'
import { ndjson } from './ndjson.ts'
import { sensorCommunity } from './sensor-community.ts'
import { sensorsAfrica } from './sensors-africa.ts'

export const archiveFormats = {
  'sensors-africa': sensorsAfrica,
  'sensor-community': sensorCommunity,
  ndjson,
} as const satisfies Record<string, ArchiveFormat>

export type ArchiveFormatName = keyof typeof archiveFormats

export const archiveFormatNames = ['sensors-africa', 'sensor-community', 'ndjson'] as const

export const isArchiveFormatName = (text: unknown): text is ArchiveFormatName =>
  archiveFormatNames.some((name) => name === text)
