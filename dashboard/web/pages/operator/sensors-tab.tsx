import { useState } from 'preact/hooks'
import { getJson, sendJson } from '../../data.ts'
import { Aqi } from '../../parts/aqi.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { Badge } from '../settings/badge.tsx'
import { Confirm } from '../settings/confirm.tsx'
import { Choice, Field } from '../settings/field.tsx'
import { AddSensor } from './add-sensor.tsx'
import type { Sensor, SensorPage } from './operator-data.ts'

type State = Sensor['state'] | ''
const states: readonly (readonly [State, string])[] = [
  ['', 'any state'],
  ['online', 'online'],
  ['offline', 'offline'],
  ['held', 'silent in a storm'],
  ['unheard', 'never heard'],
]
const kinds = { online: 'ok', offline: 'error', held: 'warn', unheard: '' } as const

export function SensorsTab() {
  const [search, setSearch] = useState('')
  const [state, setState] = useState<State>('')
  /** The last ids of the previous pages. */
  const [ends, setEnds] = useState<readonly string[]>([])
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Sensor>()
  const query = new URLSearchParams({ search, state, after: ends.at(-1) ?? '' })
  const answer = useAnswer(
    (signal) => getJson<SensorPage>(`/operator/api/sensors?${query}`, { signal }),
    [query.toString()],
  )
  const page = answer.value
  return (
    <>
      <div class="row between">
        <div class="filters">
          <Field
            label="Search"
            value={search}
            onValue={(text) => {
              setSearch(text)
              setEnds([])
            }}
            input={{ type: 'search', placeholder: 'id, area, address' }}
          />
          <Choice
            label="State"
            value={state}
            choices={states}
            onValue={(wanted) => {
              setState(wanted)
              setEnds([])
            }}
          />
        </div>
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          Add a sensor
        </button>
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {page === undefined && answer.error === undefined && <Loading />}
      {page !== undefined && (
        <section class="card stack" aria-label="Sensors">
          <p class="muted" role="status">
            {page.total.toLocaleString()} {page.total === 1 ? 'sensor' : 'sensors'}; what they said
            last is some seconds old.
          </p>
          {page.sensors.length > 0 && (
            <Table
              caption="Sensors by id"
              columns={[
                {
                  name: 'Id',
                  cell: (row: Sensor) => (
                    <a class="mono" href={`/sensors/${encodeURIComponent(row.id)}`}>
                      {row.id}
                    </a>
                  ),
                },
                {
                  name: 'State',
                  cell: (row) => (
                    <Badge
                      of={{
                        label: states.find(([name]) => name === row.state)?.[1] ?? row.state,
                        kind: kinds[row.state],
                      }}
                    />
                  ),
                },
                { name: 'Index', cell: (row) => <Aqi aqi={row.aqi} /> },
                {
                  name: 'Last reading',
                  cell: (row) =>
                    row.last_reading === null ? 'none' : <When at={row.last_reading} as="ago" />,
                },
                { name: 'Area', cell: (row) => row.area },
                { name: 'Address', cell: (row) => row.address },
                { name: 'Every', isNumber: true, cell: (row) => `${row.cadence_seconds} s` },
                {
                  name: 'Remove',
                  cell: (row) => (
                    <button
                      type="button"
                      class="danger"
                      aria-label={`Remove ${row.id}`}
                      onClick={() => setRemoving(row)}
                    >
                      Remove
                    </button>
                  ),
                },
              ]}
              rows={page.sensors}
              keyOf={(row) => row.id}
            />
          )}
          <div class="actions">
            {ends.length > 0 && (
              <button type="button" onClick={() => setEnds(ends.slice(0, -1))}>
                Page before
              </button>
            )}
            {page.next !== null && (
              <button type="button" onClick={() => setEnds([...ends, page.next ?? ''])}>
                Next page
              </button>
            )}
          </div>
        </section>
      )}
      <Dialog title="Add a sensor" isOpen={isAdding} close={() => setAdding(false)}>
        <AddSensor
          onAdded={() => {
            setAdding(false)
            answer.again()
          }}
        />
      </Dialog>
      <Confirm
        title="Remove this sensor?"
        label="Remove it"
        isOpen={removing !== undefined}
        close={() => setRemoving(undefined)}
        act={async () => {
          const id = encodeURIComponent(removing?.id ?? '')
          await sendJson('DELETE', `/operator/api/sensors/${id}`)
          answer.again()
        }}
      >
        <p>
          What <code>{removing?.id}</code> sends from now on is refused as{' '}
          <code>unknown_sensor</code>. Its readings stay.
        </p>
      </Confirm>
    </>
  )
}
