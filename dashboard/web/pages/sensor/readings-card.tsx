import { useEffect, useRef } from 'preact/hooks'
import { quantityNames } from '../../../../core/air/quantities.ts'
import { Aqi } from '../../parts/air/aqi.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Demonstration } from '../../parts/proof-link.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { useServerNow } from '../../parts/time/countdown.ts'
import { When } from '../../parts/time/when.tsx'
import { texts } from '../../texts.ts'
import { type CheckedRows, useCheckedRows } from './checked-rows.ts'
import { isWaiting, useLiveReadings } from './live-readings.ts'
import { ProofBadge } from './proof-badge.tsx'
import './readings.css'
import { namesOf, unitOf } from '../../parts/air/quantity-names.ts'
import type { Reading } from './sensor-data.ts'
import { wordsOfFlag } from './words.ts'

/** Rows that turn are checked without being asked for, this many of a batch: 8 KB each. */
const mostByThemselves = 3

/** What comes first fits on a phone. */
const first = 'pm25'

type Looks = {
  readonly checked: CheckedRows
  readonly expectedMs: number | undefined
  readonly nowMs: number
}

/** A column for each quantity in the readings: the basic five always. */
function columnsOf(
  readings: readonly Reading[],
  { checked, expectedMs, nowMs }: Looks,
): readonly Column<Reading>[] {
  const { table } = texts.proof
  const measured = quantityNames
    .filter((name) => readings.some((reading) => reading[name] !== undefined))
    .map((name) => ({
      isFirst: name === first,
      column: {
        name: `${namesOf(name).short} (${unitOf(name)})`,
        isNumber: true,
        cell: (reading: Reading) => {
          const value = reading[name] ?? null
          return value === null ? '–' : <Amount value={value} quantity={name} />
        },
      },
    }))
  const columnsWhere = (isFirst: boolean): readonly Column<Reading>[] =>
    measured.filter((one) => one.isFirst === isFirst).map(({ column }) => column)
  return [
    { name: table.time, cell: ({ timestamp }) => <When at={timestamp} /> },
    ...columnsWhere(true),
    { name: table.aqi, cell: ({ aqi }) => <Aqi aqi={aqi} /> },
    {
      name: table.proof,
      cell: (reading) => (
        <ProofBadge
          reading={reading}
          check={checked.of(reading)}
          expectedMs={expectedMs}
          nowMs={nowMs}
        />
      ),
    },
    { name: table.quality, cell: (reading) => <Quality reading={reading} /> },
    ...columnsWhere(false),
  ]
}

/** What was noticed about the values: a badge, and the sentences when it is opened. */
function Quality({ reading: { quality } }: { readonly reading: Reading }) {
  if (quality.length === 0) return <>{texts.proof.table.good}</>
  return (
    <details class="readings-quality">
      <summary class="badge warn">{texts.proof.table.notes(quality.length)}</summary>
      <ul>
        {quality.map((flag) => (
          <li key={flag}>{wordsOfFlag(flag)}</li>
        ))}
      </ul>
    </details>
  )
}

/** Rows that waited before the reader's eyes, and are in a batch now. */
function useTurned(rows: readonly Reading[], turned: (rows: readonly Reading[]) => void): void {
  const waited = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const now = rows.filter(
      (row) => waited.current.has(row.timestamp) && row.blockchain.status === 'verified',
    )
    waited.current = new Set(rows.filter(isWaiting).map(({ timestamp }) => timestamp))
    if (now.length > 0) turned(now)
  }, [rows, turned])
}

const none: readonly Reading[] = []

/** The newest readings as they come, more on demand, and all of them as a file. */
export function ReadingsCard({ id }: { readonly id: string }) {
  const { table, badge } = texts.proof
  const live = useLiveReadings(id)
  const rows = live.rows ?? none
  const checked = useCheckedRows()
  const { check } = checked
  const take = useRef((turned: readonly Reading[]) => check(turned.slice(0, mostByThemselves)))
  useTurned(rows, take.current)
  const nowMs = useServerNow(rows.some(isWaiting))
  const uncheckedRows = rows.filter(
    (row) => row.blockchain.status === 'verified' && checked.of(row) === undefined,
  )
  const csv = `/data/v1/readings?${new URLSearchParams({ sensor_id: id, limit: '1000', format: 'csv' })}`
  return (
    <section class="card readings" aria-labelledby="readings">
      <div class="row between">
        <h2 id="readings">{table.title}</h2>
        <a class="button" href={csv} download={`${id}.csv`}>
          {table.download}
        </a>
      </div>
      {live.rows === undefined && live.error !== undefined && (
        <Failed error={live.error} retry={live.again} />
      )}
      {live.rows === undefined && live.error === undefined && <Loading />}
      {live.rows !== undefined && rows.length === 0 && (
        <Empty title={table.none}>
          <p>{table.noneWords}</p>
        </Empty>
      )}
      <Demonstration />
      {rows.length > 0 && (
        <>
          <div class="row between readings-checks">
            <p class="hint">{badge.legend}</p>
            {(uncheckedRows.length > 0 || checked.left > 0) && (
              <button
                type="button"
                disabled={checked.left > 0}
                onClick={() => check(uncheckedRows)}
              >
                {checked.left > 0 ? badge.checkingRows(checked.left) : badge.check}
              </button>
            )}
          </div>
          <Table
            caption={table.caption(id)}
            columns={columnsOf(rows, { checked, expectedMs: live.expectedMs, nowMs })}
            rows={rows}
            keyOf={({ timestamp }) => timestamp}
          />
        </>
      )}
      {live.isLate && <p class="notice warn">{table.late}</p>}
      {live.hasMore && (
        <div class="actions">
          <button type="button" disabled={live.isAsking} onClick={live.loadMore}>
            {table.more}
          </button>
        </div>
      )}
    </section>
  )
}
