/** Which readings of a period an export has: what a command asks for, and what a manifest claims. */
import { qualityFilters, refusedMaskOf } from '../../core/air/quality-level.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { nearest } from '../../core/nearest.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import type { ExportFilter } from '../../operate/exports/export-manifest.ts'
import { mostNames } from '../../operate/exports/manifest-schema.ts'
import { WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { textFlag, textsFlag } from '../shell/words.ts'

/** Of sensors and areas that are known. */
export type ChosenFilter = ExportFilter & { readonly sensors?: readonly SensorId[] }
export type Known = { readonly sensors: ReadonlySet<SensorId>; readonly areas: ReadonlySet<string> }

/** @throws WrongUsage that names what is unknown, and what may have been meant */
export function readFilter(flags: Flags, rules: SensorIdRules, known: Known): ChosenFilter {
  const sensors = textsFlag(flags, 'sensor').map((text) => {
    const id = rules.parse(text.trim())
    if (id !== undefined && known.sensors.has(id)) return id
    throw new WrongUsage(`--sensor: there is no sensor "${text}"${hint(text, [...known.sensors])}`)
  })
  const areas = textsFlag(flags, 'area').map((text) => {
    const wanted = text.trim().toLowerCase()
    const area = [...known.areas].find((name) => name.toLowerCase() === wanted)
    if (area !== undefined) return area
    throw new WrongUsage(`--area: there is no area "${text}"${hint(text, [...known.areas])}`)
  })
  const quality = readQuality(flags)
  if (Math.max(sensors.length, areas.length) > mostNames)
    throw new WrongUsage(
      `an export names at most ${mostNames} sensors or areas: leave the flag out for all of them`,
    )
  return {
    ...(sensors.length > 0 && { sensors: [...new Set(sensors)].toSorted() }),
    ...(areas.length > 0 && { areas: [...new Set(areas)].toSorted() }),
    ...(quality !== 'all' && { quality }),
  }
}

function hint(text: string, names: readonly string[]): string {
  const meant = nearest(text, names)
  if (meant !== undefined) return `: did you mean "${meant}"?`
  return names.length > 0 && names.length <= 20 ? `: there is ${names.toSorted().join(', ')}` : ''
}

/** @throws WrongUsage */
export function readQuality(flags: Flags): (typeof qualityFilters)[number] {
  const text = textFlag(flags, 'quality') ?? 'all'
  const quality = qualityFilters.find((name) => name === text)
  if (quality !== undefined) return quality
  throw new WrongUsage(`--quality must be ${qualityFilters.join(', ')}, and is "${text}"`)
}

/** @throws WrongUsage that lists the models */
export function readModels(flags: Flags, known: readonly Correction[]): readonly Correction[] {
  const names = textsFlag(flags, 'corrections').flatMap((text) =>
    text.split(',').map((name) => name.trim()),
  )
  return [...new Set(names)].map((name) => {
    const model = known.find((candidate) => candidate.name === name)
    if (model !== undefined) return model
    const all = known.map((candidate) => candidate.name).join(', ')
    throw new WrongUsage(`--corrections: there is no model "${name}": there is ${all}`)
  })
}

export const isPart = (filter: ExportFilter): boolean => Object.keys(filter).length > 0

export function isWanted(filter: ExportFilter): (reading: Reading) => boolean {
  const sensors = filter.sensors && new Set(filter.sensors)
  const areas = filter.areas && new Set(filter.areas)
  const refused = refusedMaskOf(filter.quality ?? 'all')
  return ({ sensor, area, flags }) =>
    (sensors?.has(sensor) ?? true) && (areas?.has(area) ?? true) && (flags & refused) === 0
}

/** Why a row does not belong to an export of that filter. Leaf 1 holds neither area nor flags. */
export function filterFault(filter: ExportFilter, reading: LeafFields): string | undefined {
  const { sensors, areas, quality } = filter
  if (sensors !== undefined && !sensors.includes(reading.sensor))
    return `is of another sensor than ${listed(sensors)}`
  if (reading.leafVersion !== 2) return undefined
  if (areas !== undefined && !areas.includes(reading.area))
    return `is of ${reading.area}, and the export of ${listed(areas)}`
  return quality !== undefined && (reading.flags & refusedMaskOf(quality)) !== 0
    ? `is not as good as the quality that the export has: ${quality}`
    : undefined
}

const mostListed = 5

const listed = (names: readonly string[]): string =>
  names.length <= mostListed ? names.join(', ') : `${names.length} named ones`

/** "sensors: A, B; areas: Ikeja; only good readings" */
export const filterWords = ({ sensors, areas, quality }: ExportFilter): string =>
  [
    sensors && `sensors: ${listed(sensors)}`,
    areas && `areas: ${listed(areas)}`,
    quality && (quality === 'good' ? 'only good readings' : 'without failed readings'),
  ]
    .filter((text) => text !== undefined)
    .join('; ')
