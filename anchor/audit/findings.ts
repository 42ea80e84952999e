export type FindingKind =
  /** The code at the contract's address is not our contract's: its events prove nothing. */
  | 'contract'
  /** A contract does not go on from the last batch that counts of the one before. */
  | 'beginning'
  /** A former contract holds readings after its last batch that counts, and no later one has them. */
  | 'abandoned'
  /** The contract's events do not follow one another, or not from its beginning. */
  | 'events'
  /** A head does not follow from what was anchored, or is not the contract's. */
  | 'head'
  /** A batch's header was not published, or is not the one that was anchored. */
  | 'header'
  /** What the header claims cannot be, or does not go on from the batch before. */
  | 'claims'
  /** The block that the batch names as seen when it opened is not on the chain. */
  | 'beacon'
  /** The published leaves do not give the root, or are not all there. */
  | 'blob'
  /** A row that is not what was anchored under its number. */
  | 'row'
  /** Anchored readings of which there is no row. */
  | 'missing'
  /** A number that two readings have, or none. */
  | 'number'
  /** A row's flags or index, which do not follow from its values by the published rules. */
  | 'rules'
  /** Rows in another area than their sensor was, by the registry. */
  | 'area'
  /** A row that its device signed, of which the store does not have the signature that its leaf holds. */
  | 'signature'
  /** The archive's rows are not those that were anchored. */
  | 'archive'
  /** What the operator let go, by a record that proves nothing, and no archive is at hand that shows it. */
  | 'not_checked'
  /** Statistics that are not those of the rows. */
  | 'statistics'
  /** Readings that should be anchored already, and are not. */
  | 'waiting'
  /** The same, but the anchor process has not run for long enough; or nothing at all is anchored: not a fault, nor good yet. */
  | 'not_yet'

export type Finding = {
  readonly kind: FindingKind
  /** undefined: of no single batch. */
  readonly batch: number | undefined
  readonly words: string
}

export type Findings = {
  readonly add: (kind: FindingKind, batch: number | undefined, words: string) => void
  /** At most `mostListed`, the first ones. */
  readonly list: () => readonly Finding[]
  readonly total: () => number
}

const mostListed = 1_000

/** Collects what is wrong; a database that is wrong throughout must not fill the memory. */
export function collectFindings(): Findings {
  const findings: Finding[] = []
  let total = 0
  return {
    add: (kind, batch, words) => {
      total++
      if (findings.length < mostListed) findings.push({ kind, batch, words })
    },
    list: () => findings,
    total: () => total,
  }
}
