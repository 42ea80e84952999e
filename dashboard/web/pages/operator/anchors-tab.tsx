import { chainInWords } from '../../../../core/proof/demonstration-chain.ts'
import type { BatchStatus, LastBatches } from '../../../../operate/last-batches.ts'
import { getJson } from '../../data.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { Badge } from '../settings/badge.tsx'

const states = {
  closing: { label: 'being sealed', kind: 'warn' },
  sealed: { label: 'sealed', kind: 'warn' },
  sent: { label: 'sent', kind: 'warn' },
  mined: { label: 'mined', kind: 'warn' },
  final: { label: 'final', kind: 'ok' },
} as const

/** The newest batches and the state of each on the chain. */
export function AnchorsTab() {
  const answer = useAnswer(
    (signal) => getJson<LastBatches>('/operator/api/anchors', { signal }),
    [],
  )
  return (
    <>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && <Shown anchors={answer.value} again={answer.again} />}
    </>
  )
}

type ShownProps = { readonly anchors: LastBatches; readonly again: () => void }

const Shown = ({ anchors: { deployment, checked, batches }, again }: ShownProps) => (
  <>
    <dl class="facts card">
      <dt>Contract</dt>
      <dd class="mono">{deployment?.contract ?? 'none yet: `airproof anchor deploy`'}</dd>
      {deployment !== null && (
        <>
          <dt>Chain</dt>
          <dd>{chainInWords(deployment.chainId)}</dd>
        </>
      )}
      <dt>Looked at last</dt>
      <dd>
        {checked === null ? (
          'never'
        ) : (
          <>
            <When at={checked.at} as="ago" />, at block {checked.block.toLocaleString()}:{' '}
            {checked.index === 0 ? 'no batch is final yet' : `final up to batch ${checked.index}`}
          </>
        )}
      </dd>
    </dl>
    {batches.length === 0 ? (
      <Empty title="No batch yet">
        <p>
          The first is sealed some minutes after the first reading, where an anchor process runs.
        </p>
      </Empty>
    ) : (
      <section class="card stack" aria-label="Batches">
        <div class="row between">
          <h2>The newest batches</h2>
          <button type="button" class="quiet" onClick={again}>
            Look again
          </button>
        </div>
        <Table
          caption="The newest batches"
          columns={[
            { name: 'Batch', isNumber: true, cell: (row: BatchStatus) => row.index },
            { name: 'State', cell: (row) => <Badge of={states[row.state]} /> },
            {
              name: 'Readings',
              isNumber: true,
              cell: (row) => row.count?.toLocaleString() ?? '–',
            },
            { name: 'Sealed', cell: (row) => <When at={row.sealed_at} /> },
            { name: 'Log', isNumber: true, cell: (row) => `${row.first}–${row.last}` },
            { name: 'Block', isNumber: true, cell: (row) => row.block?.toLocaleString() ?? '–' },
            {
              name: 'Transaction',
              cell: (row) => (
                <span class="mono" title={row.tx ?? ''}>
                  {row.tx === null ? '–' : `${row.tx.slice(0, 10)}…${row.tx.slice(-6)}`}
                </span>
              ),
            },
          ]}
          rows={batches}
          keyOf={(row) => String(row.index)}
        />
      </section>
    )}
  </>
)
