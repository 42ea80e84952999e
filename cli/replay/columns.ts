/** What a line of a Luftdaten-type archive holds. */
import { parseIso } from '../../core/iso-time.ts'
import { NotThisFormat, type Place } from './archive-format.ts'

/** The fields of a line. Quotes round a whole field are dropped; these archives hold no others. */
export function splitFields(line: string): string[] {
  const fields = line.split(';')
  return line.includes('"') ? fields.map((field) => field.replace(/^"(.*)"$/, '$1')) : fields
}

/** The place of each wanted column. @throws NotThisFormat that names the missing one */
export function findColumns<Name extends string>(
  header: readonly string[],
  names: readonly Name[],
): Readonly<Record<Name, number>> {
  const places = names.map((name) => {
    const at = header.indexOf(name)
    if (at < 0) throw new NotThisFormat(`its first line has no column "${name}"`)
    return [name, at] as const
  })
  // fromEntries loses the type of the keys
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(places) as Record<Name, number>
}

/** The number a field holds, undefined where it holds none. */
export function numberOf(field: string | undefined): number | undefined {
  if (field === undefined || field.trim() === '') return undefined
  const value = Number(field)
  return Number.isFinite(value) ? value : undefined
}

/** A time: UTC where it names no offset, which is then added as `Z`. */
export function timeOf(text: string): {
  readonly timestamp: string
  readonly timeMs: number | undefined
} {
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return { timestamp: text, timeMs: verdict.timeMs }
  return verdict.asUtcMs === undefined
    ? { timestamp: text, timeMs: undefined }
    : { timestamp: `${text}Z`, timeMs: verdict.asUtcMs }
}

export function placeOf(latText: string, lonText: string, location: string): Place | undefined {
  const lat = numberOf(latText)
  const lon = numberOf(lonText)
  return lat === undefined || lon === undefined ? undefined : { lat, lon, location }
}
