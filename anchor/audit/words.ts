import { chainInWords, isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import type { AuditReport } from './audit.ts'
import type { Covered } from './coverage.ts'

/** The report for people, a line each. */
export function auditLines(report: AuditReport): readonly string[] {
  const { rows, findings, findings_total: total } = report
  const lines = [
    `chain ${chainInWords(report.chain_id)}; contract ${report.contract}${report.contract_named ? '' : ' (by the operator’s record; not asked whether it is the network’s: name it with --network or --contract)'}`,
    ...(isDemonstrationChain(report.chain_id)
      ? ['the operator runs a demonstration chain, so it proves nothing about time']
      : []),
    `up to finalized block ${report.block}, ${report.block_hash}`,
    ...contractLines(report),
    `${report.anchors} batches anchored; from batch ${report.from_batch} on: ${report.readings} readings, ${report.heartbeats} heartbeats, ${report.leaves} leaves read`,
    ...(rows === null ? ['no row was looked at'] : rowLines(rows)),
  ]
  const found = findings.map(
    ({ kind, words }) =>
      `${kind === 'not_yet' || kind === 'not_checked' ? '…' : '✗'} ${kind}: ${words}`,
  )
  if (total > findings.length) found.push(`… and ${total - findings.length} more`)
  return [...lines, ...found, '', ...verdictLines(report)]
}

/** One contract needs no words: all batches are in it. */
const contractLines = ({ contracts }: AuditReport): readonly string[] =>
  contracts.length < 2
    ? []
    : contracts.map(({ contract, version, first_batch, anchors, ...rest }) => {
        const last = first_batch + anchors - 1
        const batches = anchors === 0 ? 'no batch counts' : `batches ${first_batch} to ${last}`
        return `contract ${contract}, version ${version}: ${batches}${abandonedWords(rest)}${openWords(contract, rest.still_open_to)}`
      })

/** No fault of what is anchored: a named line. */
const openWords = (contract: string, writer: string | null): string =>
  writer === null
    ? ''
    : `; it was given up and ${writer} may still anchor in it: its owner shuts it with \`airproof anchor writer --anchor-contract ${contract} --set none\` (docs/chain.md)`

type Abandoned = Pick<
  AuditReport['contracts'][number],
  'abandoned' | 'abandoned_ours' | 'abandoned_readings' | 'theft_named'
>

function abandonedWords({ abandoned, abandoned_ours: ours, ...rest }: Abandoned): string {
  if (abandoned === 0) return ''
  const foreign = abandoned - ours
  const parts = [
    ...(ours > 0
      ? [`${ours} hold the readings of our batches, which a later contract has or will have`]
      : []),
    ...(foreign > 0
      ? [
          `${foreign} are in no later contract, with ${rest.abandoned_readings} readings${rest.theft_named ? ', and are a thief’s, as you said' : ''}`,
        ]
      : []),
  ]
  return `; abandoned: ${abandoned} after them, because a later contract goes on from before: ${parts.join('; ')}`
}

const rowLines = (rows: NonNullable<AuditReport['rows']>): readonly string[] => [
  `rows read from ${rows.from}`,
  ...rows.excused,
  `${rows.looked_at} rows looked at (${rows.all ? 'all there are' : 'a sample: neither missing rows nor numbers used twice are found'}): ${rows.fit} are what was anchored, ${rows.not_anchored} are not anchored yet${rows.before > 0 ? `, ${rows.before} are in batches before` : ''}`,
  ...(rows.archived > 0
    ? [
        `${rows.archived} anchored readings are expired: the store does not have them, and the archive shows them as they were anchored`,
      ]
    : []),
  ...(rows.expired > 0
    ? [
        `${rows.expired} anchored readings are not there: by the times that their batches claim they are older than the store's retention`,
      ]
    : []),
  ...(rows.perhaps_expired > 0
    ? [
        `${rows.perhaps_expired} anchored readings are not there, of batches that are older than the store's retention in part: expired or removed, which cannot be said`,
      ]
    : []),
]

/** Nothing is wrong, and something could not be looked at. */
const isUnchecked = ({ findings, findings_total: total }: AuditReport): boolean =>
  total === findings.length &&
  findings.some(({ kind }) => kind === 'not_checked') &&
  findings.every(({ kind }) => kind === 'not_checked' || kind === 'not_yet')

/** Nothing is wrong, and something is too young to be good: an audit some minutes later can say. */
export const isNotYet = ({ findings, findings_total: total }: AuditReport): boolean =>
  total > 0 && total === findings.length && findings.every(({ kind }) => kind === 'not_yet')

function verdictLines(report: AuditReport): readonly string[] {
  const { rows, covers, findings_total: total } = report
  if (isNotYet(report))
    return ['NOT YET. Nothing is wrong so far, and not everything is anchored: audit again later.']
  if (isUnchecked(report))
    return [
      'EXPIRED, NOT CHECKED. Nothing is wrong so far; what the operator let go is only in an archive, which was not at hand.',
    ]
  if (total > 0) return [`RED. ${total} ${total === 1 ? 'thing is' : 'things are'} wrong.`]
  const hasExpired = rows !== null && rows.expired + rows.perhaps_expired > 0
  const verdict =
    rows === null
      ? 'GREEN. Every anchor follows from the one before, and the published leaves are the anchored ones.'
      : rows.all
        ? `GREEN. No anchored reading${hasExpired ? ' that the store must still have' : ''} is missing, and none was changed, added or numbered twice.`
        : 'GREEN. The rows of the sample are what was anchored.'
  const abandoned = report.contracts.reduce((sum, one) => sum + one.abandoned_readings, 0)
  return [
    verdict,
    ...(abandoned > 0
      ? [
          `Not covered: ${abandoned} readings of abandoned batches, which are a thief’s, as you said.`,
        ]
      : []),
    ...coverageLines(covers),
  ]
}

/** What was covered, for each version of batches where there are two. */
function coverageLines({ by_version: versions, ...all }: AuditReport['covers']): readonly string[] {
  if (versions.length < 2) return coveredLines(all, '')
  return versions.flatMap(({ version, batches, readings, ...covered }) =>
    coveredLines(covered, `Version ${version} (${batches} batches, ${readings} readings). `),
  )
}

const coveredLines = (
  { checked, compared, not_checked }: Covered,
  of: string,
): readonly string[] => [
  ...(checked.length > 0 ? [`${of}Checked of each row: ${checked.join(', ')}.`] : []),
  ...(compared.length > 0
    ? [
        `${of}Held against the registry, the rows and the published rules, not against the chain: ${compared.join(', ')}.`,
      ]
    : []),
  ...(not_checked.length > 0
    ? [`${of}Not checked, because it is not anchored: ${not_checked.join(', ')}.`]
    : []),
]
