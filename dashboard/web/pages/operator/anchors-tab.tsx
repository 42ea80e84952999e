import { isDemonstrationChain } from '../../../../core/proof/demonstration-chain.ts'
import type { BatchStatus, LastBatches } from '../../../../operate/last-batches.ts'
import { accountTexts } from '../../account-texts.ts'
import { getJson } from '../../data.ts'
import { Badge } from '../../parts/badge.tsx'
import { Filled } from '../../parts/filled.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { format, texts } from '../../texts.ts'

const { anchors: words } = accountTexts.operator

const states = {
  closing: { label: words.states.closing, kind: 'warn' },
  sealed: { label: words.states.sealed, kind: 'warn' },
  sent: { label: words.states.sent, kind: 'warn' },
  mined: { label: words.states.mined, kind: 'warn' },
  final: { label: words.states.final, kind: 'ok' },
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

const orDash = (count: number | null): string => (count === null ? '–' : format.number(count))

type ShownProps = { readonly anchors: LastBatches; readonly again: () => void }

const Shown = ({ anchors: { deployment, checked, batches }, again }: ShownProps) => (
  <>
    <dl class="facts card">
      <dt>{words.contract}</dt>
      <dd class="mono">{deployment?.contract ?? words.noContract}</dd>
      {deployment !== null && (
        <>
          <dt>{words.chain}</dt>
          <dd>
            {texts.proof.chain(
              String(deployment.chainId),
              isDemonstrationChain(deployment.chainId),
            )}
          </dd>
        </>
      )}
      <dt>{words.checked}</dt>
      <dd>
        {checked === null ? (
          words.never
        ) : (
          <Filled
            text={
              checked.index === 0
                ? words.checkedNone(checked.block)
                : words.checkedTo(checked.block, checked.index)
            }
            parts={{ when: () => <When at={checked.at} as="ago" /> }}
          />
        )}
      </dd>
    </dl>
    {batches.length === 0 ? (
      <Empty title={words.noneTitle}>
        <p>{words.none}</p>
      </Empty>
    ) : (
      <section class="card stack" aria-label={words.title}>
        <div class="row between">
          <h2>{words.title}</h2>
          <button type="button" class="quiet" onClick={again}>
            {accountTexts.settings.usage.refresh}
          </button>
        </div>
        <Table
          caption={words.title}
          columns={[
            {
              name: words.batch,
              isNumber: true,
              cell: (row: BatchStatus) => format.number(row.index),
            },
            { name: words.state, cell: (row) => <Badge of={states[row.state]} /> },
            {
              name: words.readings,
              isNumber: true,
              cell: (row) => orDash(row.count),
            },
            { name: words.sealed, cell: (row) => <When at={row.sealed_at} /> },
            {
              name: words.log,
              isNumber: true,
              cell: (row) => `${format.number(row.first)}–${format.number(row.last)}`,
            },
            { name: words.block, isNumber: true, cell: (row) => orDash(row.block) },
            {
              name: words.transaction,
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
