/** One line taken out or changed, and what must notice it: a test, or the types. */
export type Mutant = {
  /** What goes wrong with it. */
  readonly name: string
  readonly file: string
  /** Found once in the file, or there where `at` says. */
  readonly text: string
  readonly at?: number
  readonly becomes: string
  /** A line that the change needs at the top of the file, such as an import. */
  readonly top?: string
  /** The tests nearest to it (`testFile`); none: the types alone. */
  readonly tests: readonly string[]
}

/** Of a unit test its name is enough: `nowcast`; of another `contract/store-sqlite`. */
export const testFile = (name: string): string =>
  `test/${name.includes('/') ? '' : 'unit/'}${name}.test.ts`

/** A mutant for each match: a row of a table that is added later has its mutants with it. */
export type RowMutants = Omit<Mutant, 'text' | 'at' | 'becomes' | 'top'> & {
  /** Global. */
  readonly rows: RegExp
  readonly becomes: (row: string, groups: readonly string[]) => string
  /** How many it finds at least. */
  readonly least: number
}

export class StaleMutant extends Error {
  override readonly name = 'StaleMutant'
}

/**
 * Each row of `listed` as mutants of one line.
 * @param read the text of a file
 * @throws StaleMutant where a table has fewer rows than the list says
 */
export function mutantsOf(
  listed: readonly (Mutant | RowMutants)[],
  read: (file: string) => string,
): Mutant[] {
  return listed.flatMap((entry) => {
    if (!('rows' in entry)) return [entry]
    const { rows, least, name, becomes, ...rest } = entry
    const source = read(entry.file)
    const matches = [...source.matchAll(rows)]
    if (matches.length < least)
      throw new StaleMutant(
        `${name}: ${matches.length} rows in ${entry.file} match ${rows.source}, at least ${least} should: bring the list in test/mutants up to date`,
      )
    return matches.map((match) => {
      const [row, ...groups] = match
      const line = source.slice(0, match.index).split('\n').length
      const label = groups.find((group) => /^.+$/.test(group ?? '')) ?? `line ${line}`
      const change = { text: row, at: match.index, becomes: becomes(row, groups) }
      return { ...rest, ...change, name: `${name}: ${label}` }
    })
  })
}

/** @throws StaleMutant where its text is not in the file, or more than once */
export function mutate(source: string, { name, file, text, at, becomes, top }: Mutant): string {
  if (text === becomes) throw new StaleMutant(`${name}: it changes nothing in ${file}`)
  const times = source.split(text).length - 1
  const begin = at ?? source.indexOf(text)
  if ((times !== 1 && at === undefined) || !source.startsWith(text, begin))
    throw new StaleMutant(
      `${name}: its text is ${times} times in ${file}, not once: bring the list in test/mutants up to date`,
    )
  const mutated = source.slice(0, begin) + becomes + source.slice(begin + text.length)
  return top === undefined ? mutated : `${top}\n${mutated}`
}
