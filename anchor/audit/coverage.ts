import { quantityNames } from '../../core/air/quantities.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { leafNow } from '../../core/proof/leaf.ts'

/**
 * What a report without findings vouches for, and what it does not. Only what is hashed can be held
 * against the chain; the rest, if asked for, is compared with what the operator has.
 */
export type Coverage = Covered & {
  /** Batches of each version that were looked at. What is above holds for all of them. */
  readonly by_version: readonly VersionCoverage[]
}

export type Covered = {
  readonly checked: readonly string[]
  readonly not_checked: readonly string[]
  /** Checked, but not against the chain. */
  readonly compared: readonly string[]
}

export type VersionCoverage = Covered & {
  readonly version: 1 | 2
  readonly batches: number
  readonly readings: number
}

/** The columns of a row that its leaf is made of, and what else the store holds. */
const columns = {
  1: {
    hashed: ['sensor', 'time', 'number', ...leafNow.values, 'aqi'],
    notHashed: ['area', 'flags', 'statistics of areas'],
  },
  2: {
    hashed: ['sensor', 'time', 'number', ...quantityNames, 'aqi', 'area', 'flags', 'device'],
    notHashed: ['statistics of areas'],
  },
} as const

type Looked = {
  readonly headers: readonly Pick<BatchHeader, 'version' | 'count'>[]
  readonly compared: readonly string[]
}

export function coverageOf(rows: object | null, { headers, compared }: Looked): Coverage {
  const by_version = ([1, 2] as const).flatMap((version) => {
    const own = headers.filter((header) => batchVersionOf(header) === version)
    const readings = own.reduce((sum, { count }) => sum + count, 0)
    const covered = coveredOf(rows, version, compared)
    return own.length === 0 ? [] : [{ version, batches: own.length, readings, ...covered }]
  })
  // what all have: of version 1 less is anchored
  const weakest = by_version.find(({ readings }) => readings > 0)?.version ?? 1
  return { ...coveredOf(rows, weakest, compared), by_version }
}

/** What `--deep` compares of rows that are signed, or must be, which those of version 1 never are. */
export const signaturesWords = 'signatures'
/** What `--deep` compares of the flags, and what is left of them. */
export const derivedFlagsWords = 'flags that follow from values'
const otherFlagsWords = 'flags that do not follow from values'

function coveredOf(rows: object | null, version: 1 | 2, compared: readonly string[]): Covered {
  const deep = version === 1 ? compared.filter((name) => name !== signaturesWords) : compared
  const { hashed, notHashed } = columns[version]
  if (rows === null) return { checked: [], compared: [], not_checked: ['rows', ...notHashed] }
  const not_checked = notHashed
    .filter((name) => !deep.includes(name))
    .map((name) => (name === 'flags' && deep.includes(derivedFlagsWords) ? otherFlagsWords : name))
  return { checked: hashed, compared: deep, not_checked }
}
