import type { AuditReport } from './audit.ts'

/** The report for people, a line each. */
export function auditLines(report: AuditReport): readonly string[] {
  const { rows, findings, findings_total: total } = report
  const lines = [
    `chain ${report.chain_id}, contract ${report.contract}`,
    `up to finalized block ${report.block}, ${report.block_hash}`,
    `${report.anchors} batches anchored; from batch ${report.from_batch} on: ${report.readings} readings, ${report.heartbeats} heartbeats, ${report.leaves} leaves read`,
    rows === null
      ? 'no row was looked at'
      : `${rows.looked_at} rows looked at (${rows.all ? 'all there are' : 'a sample: what is missing is not found'}): ${rows.fit} are what was anchored, ${rows.not_anchored} are not anchored yet${rows.before > 0 ? `, ${rows.before} are in batches before` : ''}`,
  ]
  const found = findings.map(({ kind, words }) => `✗ ${kind}: ${words}`)
  if (total > findings.length) found.push(`… and ${total - findings.length} more`)
  const verdict =
    total === 0
      ? 'GREEN. Nothing is missing and nothing was changed.'
      : `RED. ${total} ${total === 1 ? 'thing is' : 'things are'} wrong.`
  return [...lines, ...found, '', verdict]
}
