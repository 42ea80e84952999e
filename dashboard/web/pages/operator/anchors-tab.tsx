import { chainInWords } from '../../../../core/proof/demonstration-chain.ts'
import { getJson } from '../../data.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAsked } from '../../parts/use-asked.ts'
import { When } from '../../parts/when.tsx'
import { Badge } from '../settings/badge.tsx'
import type { Anchors, Batch } from './operator-data.ts'

const states = {
  closing: { label: 'being sealed', kind: 'warn' },
  sealed: { label: 'sealed', kind: 'warn' },
  sent: { label: 'sent', kind: 'warn' },
  mined: { label: 'mined', kind: 'warn' },
  final: { label: 'final', kind: 'ok' },
} as const

/** The newest batches and how each stands on the chain. */
export function AnchorsTab() {
  const asked = useAsked((signal) => getJson<Anchors>('/operator/api/anchors', { signal }), [])
  return (
    <>
      {asked.error !== undefined && <Failed error={asked.error} retry={asked.again} />}
      {asked.value === undefined && asked.error === undefined && <Loading />}
      {asked.value !== undefined && <Shown anchors={asked.value} again={asked.again} />}
    </>
  )
}

type ShownProps = { readonly anchors: Anchors; readonly again: () => void }

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
            { name: 'Batch', isNumber: true, cell: (one: Batch) => one.index },
            { name: 'State', cell: (one) => <Badge of={states[one.state]} /> },
            {
              name: 'Readings',
              isNumber: true,
              cell: (one) => one.count?.toLocaleString() ?? '–',
            },
            { name: 'Sealed', cell: (one) => <When at={one.sealed_at} /> },
            { name: 'Log', isNumber: true, cell: (one) => `${one.first}–${one.last}` },
            { name: 'Block', isNumber: true, cell: (one) => one.block?.toLocaleString() ?? '–' },
            {
              name: 'Transaction',
              cell: (one) => (
                <span class="mono" title={one.tx ?? ''}>
                  {one.tx === null ? '–' : `${one.tx.slice(0, 10)}…${one.tx.slice(-6)}`}
                </span>
              ),
            },
          ]}
          rows={batches}
          keyOf={(one) => String(one.index)}
        />
      </section>
    )}
  </>
)
