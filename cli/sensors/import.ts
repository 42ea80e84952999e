import { readFile } from 'node:fs/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { checkList, importList } from '../../operate/sensor-import.ts'
import {
  type ListedSensor,
  onePerSensor,
  sensorsFromCsv,
  sensorsFromGeoJson,
} from '../../operate/sensor-list.ts'
import type { Imported, Registry } from '../../operate/sensor-registry.ts'
import { inWords, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { parseCredential } from '../../schemas/devices/credential.ts'
import { defaultCadenceSeconds } from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { ArchiveFormat } from '../replay/archive-format.ts'
import {
  archiveFormats,
  holdsMessages,
  isArchiveFormatName,
  placedFormatNames,
} from '../replay/archive-formats.ts'
import { archiveIds, defaultArea, defaultCode } from '../replay/archive-id.ts'
import { findFiles } from '../replay/find-files.ts'
import { surveyArchive } from '../replay/survey.ts'
import { openProgress } from '../shell/progress.ts'
import { sensorsFromSurvey } from './from-survey.ts'
import { deviceKeyOf } from './signing.ts'

export type ImportOptions = {
  readonly paths: readonly string[]
  /** undefined: `csv` or `geojson`, by the ending of each file. */
  readonly format: string | undefined
  readonly code: string | undefined
  readonly area: string | undefined
  readonly cadenceSeconds: number | undefined
  readonly idPrefix: string
  readonly nowMs: number
  readonly isTerminal: boolean
  readonly stop?: AbortSignal
}

/**
 * Reads everything first, so that a wrong file changes nothing.
 * @returns the ids that the files name, too
 */
export async function importInto(
  nc: NatsConnection,
  registry: Registry,
  options: ImportOptions,
): Promise<{ readonly imported: Imported; readonly ids: readonly string[] }> {
  const listed = onePerSensor(await listedIn(options))
  using progress = openProgress({
    label: 'sensors',
    total: listed.length,
    isTerminal: options.isTerminal,
  })
  await checkList(nc, registry, listed)
  await using credentials = await watchBucket(nc, buckets.credentials, parseCredential)
  const imported = await importList(registry, listed, {
    mayHaveCredential: (id) => credentials.get(id) !== undefined || credentials.isBroken(id),
    onProgress: (done) => progress.at(done),
  })
  return { imported, ids: listed.map(({ entry }) => entry.id) }
}

async function listedIn(options: ImportOptions): Promise<readonly ListedSensor[]> {
  const { format, paths } = options
  if (isArchiveFormatName(format) && !holdsMessages(format))
    return await fromArchive(archiveFormats[format], options)
  if (format !== undefined && format !== 'csv' && format !== 'geojson')
    throw new WrongUsage(
      `--format must be one of csv, geojson, ${placedFormatNames.join(', ')}, and is "${format}"`,
    )
  const lists = await Promise.all(paths.map((file) => fromList(file, options)))
  return lists.flat()
}

async function fromList(file: string, options: ImportOptions): Promise<readonly ListedSensor[]> {
  const isGeoJson = options.format === 'geojson' || /\.(geo)?json$/i.test(file)
  const parse = isGeoJson ? sensorsFromGeoJson : sensorsFromCsv
  try {
    return parse(await readFile(file, 'utf8'), { ...options, deviceKeyOf })
  } catch (cause) {
    throw new MustAct(`${file}: ${inWords(cause)}`, { cause })
  }
}

async function fromArchive(
  format: ArchiveFormat,
  {
    paths,
    code = defaultCode,
    area = defaultArea,
    cadenceSeconds,
    idPrefix,
    nowMs,
    stop,
  }: ImportOptions,
): Promise<readonly ListedSensor[]> {
  const files = await findFiles(paths)
  const survey = await surveyArchive(files, { format, idOf: archiveIds({ idPrefix, code }), stop })
  const entries = sensorsFromSurvey(survey, {
    area,
    cadenceSeconds: cadenceSeconds ?? defaultCadenceSeconds,
    nowMs,
  })
  return entries.map((entry) => ({ entry, settings: { cadenceSeconds } }))
}

/** Sensors of an archive publish nothing themselves, so they need no credential. */
export const isArchive = (format: string | undefined): boolean => isArchiveFormatName(format)
