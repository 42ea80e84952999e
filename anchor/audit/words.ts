import { chainInWords, isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import type { AuditReport } from './audit.ts'

/** The report for people, a line each. */
export function auditLines(report: AuditReport): readonly string[] {
  const { rows, findings, findings_total: total } = report
  const lines = [
    `chain ${chainInWords(report.chain_id)}; contract ${report.contract}${report.contract_named ? '' : ' (by the operator’s record; not asked whether it is the network’s: name it with --network or --contract)'}`,
    ...(isDemonstrationChain(report.chain_id)
      ? ['the operator runs a demonstration chain, so it proves nothing about time']
      : []),
    `up to finalized block ${report.block}, ${report.block_hash}`,
    `${report.anchors} batches anchored; from batch ${report.from_batch} on: ${report.readings} readings, ${report.heartbeats} heartbeats, ${report.leaves} leaves read`,
    ...(rows === null ? ['no row was looked at'] : rowLines(rows)),
  ]
  const found = findings.map(
    ({ kind, words }) => `${kind === 'not_yet' ? '…' : '✗'} ${kind}: ${words}`,
  )
  if (total > findings.length) found.push(`… and ${total - findings.length} more`)
  return [...lines, ...found, '', ...verdictLines(report)]
}

const rowLines = (rows: NonNullable<AuditReport['rows']>): readonly string[] => [
  `rows read from ${rows.from}`,
  `${rows.looked_at} rows looked at (${rows.all ? 'all there are' : 'a sample: neither missing rows nor numbers used twice are found'}): ${rows.fit} are what was anchored, ${rows.not_anchored} are not anchored yet${rows.before > 0 ? `, ${rows.before} are in batches before` : ''}`,
]

/** Nothing is wrong, and something is too young to be good: an audit some minutes later can say. */
export const isNotYet = ({ findings, findings_total: total }: AuditReport): boolean =>
  total > 0 && total === findings.length && findings.every(({ kind }) => kind === 'not_yet')

function verdictLines(report: AuditReport): readonly string[] {
  const { rows, covers, findings_total: total } = report
  if (isNotYet(report))
    return ['NOT YET. Nothing is wrong so far, and not everything is anchored: audit again later.']
  if (total > 0) return [`RED. ${total} ${total === 1 ? 'thing is' : 'things are'} wrong.`]
  const verdict =
    rows === null
      ? 'GREEN. Every anchor follows from the one before, and the published leaves are the anchored ones.'
      : rows.all
        ? 'GREEN. No anchored reading is missing, and none was changed, added or numbered twice.'
        : 'GREEN. The rows of the sample are what was anchored.'
  return [
    verdict,
    ...(covers.checked.length > 0 ? [`Checked of each row: ${covers.checked.join(', ')}.`] : []),
    ...(covers.compared.length > 0
      ? [
          `Held against the registry and the rows, not against the chain: ${covers.compared.join(', ')}.`,
        ]
      : []),
    `Not checked, because it is not anchored: ${covers.not_checked.join(', ')}.`,
  ]
}
