import { useState } from 'preact/hooks'
import { quantityNames, units } from '../../../../core/air/quantities.ts'
import { config } from '../../me.ts'
import { Amount } from '../../parts/amount.tsx'
import { Aqi } from '../../parts/aqi.tsx'
import { Demonstration } from '../../parts/proof-link.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { getReadings, type Reading } from './sensor-data.ts'
import { proofWords, shortWords, wordsOfFlag } from './words.ts'

const pageSize = 25
const before: readonly Column<Reading>[] = [
  { name: 'Time', cell: ({ timestamp }) => <When at={timestamp} /> },
  { name: 'AQI', cell: ({ aqi }) => <Aqi aqi={aqi} /> },
  { name: 'Proof', cell: (reading) => <ProofLink reading={reading} /> },
]
const noticed: Column<Reading> = {
  name: 'Noticed',
  cell: ({ quality }) => quality.map(wordsOfFlag).join('; '),
}

/** A column for each quantity in the readings: the basic five always. */
const columnsOf = (readings: readonly Reading[]): readonly Column<Reading>[] => [
  ...before,
  ...quantityNames
    .filter((name) => readings.some((reading) => reading[name] !== undefined))
    .map(
      (name): Column<Reading> => ({
        name: `${shortWords[name]} (${units[name]})`,
        isNumber: true,
        cell: (reading) => {
          const value = reading[name] ?? null
          return value === null ? '–' : <Amount value={value} />
        },
      }),
    ),
  noticed,
]

function ProofLink({ reading }: { readonly reading: Reading }) {
  const { label, looks } = proofWords[reading.blockchain.status]
  const { sensor_id: id, timestamp } = reading
  return (
    <a class={`badge ${looks}`} href={`/proof/${id}/${timestamp}?hash=${reading.blockchain.hash}`}>
      {label}
      {config.value.demonstration === true && ' (demonstration)'}
      <span class="visually-hidden"> proof of the reading of {timestamp}</span>
    </a>
  )
}

/** The newest readings, more on demand, and all of them as a file. */
export function ReadingsCard({ id }: { readonly id: string }) {
  const first = useAnswer(async (signal) => getReadings({ id, limit: pageSize, signal }), [id])
  const [more, setMore] = useState<{
    readonly readings: readonly Reading[]
    readonly cursor: string | null
  }>()
  const [state, setState] = useState<'idle' | 'asking' | Error>('idle')
  const cursor = more === undefined ? first.value?.next_cursor : more.cursor
  const loadMore = async (): Promise<void> => {
    if (cursor === undefined || cursor === null) return
    setState('asking')
    try {
      const page = await getReadings({ id, limit: pageSize * 2, cursor })
      setMore((was) => ({
        readings: [...(was?.readings ?? []), ...page.readings],
        cursor: page.next_cursor,
      }))
      setState('idle')
    } catch (error) {
      setState(error instanceof Error ? error : new Error('The readings cannot be loaded.'))
    }
  }
  const rows = [...(first.value?.readings ?? []), ...(more?.readings ?? [])]
  const csv = `/data/v1/readings?${new URLSearchParams({ sensor_id: id, limit: '1000', format: 'csv' })}`
  return (
    <section class="card" aria-labelledby="readings">
      <div class="row between">
        <h2 id="readings">Readings</h2>
        <a class="button" href={csv} download={`${id}.csv`}>
          Download the newest 1,000 as CSV
        </a>
      </div>
      {first.error !== undefined && <Failed error={first.error} retry={first.again} />}
      {first.value === undefined && first.error === undefined && <Loading />}
      {first.value !== undefined && rows.length === 0 && (
        <Empty title="No readings yet">
          <p>The first one the sensor sends appears here.</p>
        </Empty>
      )}
      <Demonstration />
      {rows.length > 0 && (
        <Table
          caption={`Readings of ${id}, newest first`}
          columns={columnsOf(rows)}
          rows={rows}
          keyOf={({ timestamp }) => timestamp}
        />
      )}
      {state instanceof Error && <Failed error={state} />}
      {cursor !== undefined && cursor !== null && (
        <div class="actions">
          <button type="button" disabled={state === 'asking'} onClick={() => void loadMore()}>
            {state === 'asking' ? 'Loading…' : 'Load more'}
          </button>
        </div>
      )}
    </section>
  )
}
