import { NotThisFormat } from './archive-format.ts'

/** The fields of a line. Quotes round a whole field are dropped; these archives hold no others. */
export function splitFields(line: string): string[] {
  const fields = line.split(';')
  return line.includes('"') ? fields.map((field) => field.replace(/^"(.*)"$/, '$1')) : fields
}

/** Where each wanted column stands. @throws NotThisFormat that names the missing one */
export function findColumns<Name extends string>(
  header: readonly string[],
  names: readonly Name[],
): Readonly<Record<Name, number>> {
  const found = names.map((name) => {
    const at = header.indexOf(name)
    if (at < 0) throw new NotThisFormat(`its first line has no column "${name}"`)
    return [name, at] as const
  })
  // fromEntries forgets which keys it was given
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(found) as Record<Name, number>
}

/** The number a field holds, undefined where it holds none. */
export function numberOf(field: string | undefined): number | undefined {
  if (field === undefined || field.trim() === '') return undefined
  const value = Number(field)
  return Number.isFinite(value) ? value : undefined
}
