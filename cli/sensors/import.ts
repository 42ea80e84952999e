import { readFile } from 'node:fs/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { assertMayDescribe, assertMaySign } from '../../operate/sensor-keys.ts'
import {
  type Imported,
  importSensors,
  listSensors,
  mergeSites,
  type Registry,
} from '../../operate/sensor-registry.ts'
import { type SensorSettings, saysAbout, withSettings } from '../../operate/sensor-settings.ts'
import { inWords, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { defaultCadenceSeconds } from '../../schemas/devices/sensor.ts'
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
import { refuseTaken } from './device.ts'
import { type ListedSensor, sensorsFromCsv, sensorsFromGeoJson } from './from-list.ts'
import { sensorsFromSurvey } from './from-survey.ts'

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
  const entries = listed.map(({ entry }) => entry)
  const settings = new Map(listed.map((sensor) => [sensor.entry.id, sensor.settings]))
  if (listed.some(({ entry: { keys, signature } }) => keys ?? signature)) await assertMaySign(nc)
  if (listed.some((sensor) => saysAbout(sensor.settings))) await assertMayDescribe(nc)
  await refuseTakenDevices(nc, registry, settings)
  using progress = openProgress({
    label: 'sensors',
    total: entries.length,
    isTerminal: options.isTerminal,
  })
  const imported = await importSensors(registry, entries, {
    settingsOf: (id) => settings.get(id) ?? {},
    onProgress: (done) => progress.at(done),
  })
  return { imported, ids: entries.map(({ id }) => id) }
}

/** A list may name a sensor several times: a line for each of its sites. @throws MustAct */
function onePerSensor(listed: readonly ListedSensor[]): readonly ListedSensor[] {
  const byId = Map.groupBy(listed, ({ entry }) => entry.id)
  return [...byId]
    .map(([id, lines]) => {
      const [first, ...more] = lines
      if (first === undefined || more.length === 0) return lines
      const froms = new Set(lines.flatMap(({ entry }) => entry.sites.map(({ from }) => from)))
      if (froms.size < lines.length)
        throw new MustAct(
          `${id} is named twice for the same time: keep one line of it, or give in "from" since when it is at each site`,
        )
      const settings = more.reduce(
        (known, { settings: next }) => joined(id, known, next),
        first.settings,
      )
      const sites = mergeSites(lines.flatMap(({ entry }) => entry.sites))
      return [{ entry: withSettings({ ...first.entry, sites }, settings), settings }]
    })
    .flat()
}

const namesOf: Readonly<Record<string, string>> = {
  cadenceSeconds: 'cadence',
  newKey: 'public key',
}

function joined(id: string, known: SensorSettings, next: SensorSettings): SensorSettings {
  const named = Object.entries(next).filter(([, value]) => value !== undefined)
  const before = new Map<string, unknown>(Object.entries(known))
  for (const [name, value] of named) {
    const other = before.get(name)
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(value))
      throw new MustAct(`${id} is named twice with another ${namesOf[name] ?? name}: give it once`)
  }
  return { ...known, ...Object.fromEntries(named) }
}

async function refuseTakenDevices(
  nc: NatsConnection,
  { rules }: Registry,
  settings: ReadonlyMap<string, SensorSettings>,
): Promise<void> {
  const wanted = [...settings].flatMap(([id, { device }]) =>
    device === undefined ? [] : [[id, device] as const],
  )
  if (wanted.length > 0) refuseTaken(new Map(wanted), await listSensors(nc, rules))
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

async function fromList(file: string, options: ImportOptions): Promise<ListedSensor[]> {
  const isGeoJson = options.format === 'geojson' || /\.(geo)?json$/i.test(file)
  const parse = isGeoJson ? sensorsFromGeoJson : sensorsFromCsv
  try {
    return parse(await readFile(file, 'utf8'), options)
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
