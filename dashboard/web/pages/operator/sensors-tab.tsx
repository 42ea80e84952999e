import { useState } from 'preact/hooks'
import { accountTexts } from '../../account-texts.ts'
import { getJson } from '../../data.ts'
import { Field } from '../../forms/field.tsx'
import { Select } from '../../forms/select.tsx'
import { useAddress } from '../../parts/address-state.ts'
import { Aqi } from '../../parts/air/aqi.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { duration } from '../../parts/time/times.ts'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { AddSensor } from './add-sensor.tsx'
import { FirstRun } from './first-run.tsx'
import { ImportSensors } from './import-sensors.tsx'
import { ManageSensor } from './manage-sensor.tsx'
import type { Sensor, SensorPage } from './operator-data.ts'
import { seemsSilent } from './why-silent.tsx'

const { sensors: words, manage, silence } = accountTexts.operator
const { fields } = manage

type State = Sensor['state'] | ''
const states: readonly (readonly [State, string])[] = [
  ['', words.states.any],
  ['online', words.states.online],
  ['offline', words.states.offline],
  ['held', words.states.held],
  ['unheard', words.states.unheard],
]
const kinds = { online: 'ok', offline: 'error', held: 'warn', unheard: '' } as const

export function SensorsTab() {
  const [search, setSearch] = useState('')
  const [state, setState] = useState<State>('')
  /** The last ids of the previous pages. */
  const [ends, setEnds] = useState<readonly string[]>([])
  const [isAdding, setAdding] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const [managed, setManaged] = useAddress('sensor')
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
            label={words.search}
            value={search}
            onValue={(text) => {
              setSearch(text)
              setEnds([])
            }}
            input={{ type: 'search', placeholder: words.searchHint }}
          />
          <Select
            label={words.state}
            value={state}
            choices={states}
            onValue={(wanted) => {
              setState(wanted)
              setEnds([])
            }}
          />
        </div>
        <div class="actions">
          <button type="button" onClick={() => setImporting(true)}>
            {words.importList}
          </button>
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            {words.add}
          </button>
        </div>
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {page === undefined && answer.error === undefined && <Loading />}
      {page !== undefined && page.total === 0 && search === '' && state === '' && (
        <FirstRun add={() => setAdding(true)} importList={() => setImporting(true)} />
      )}
      {page !== undefined && !(page.total === 0 && search === '' && state === '') && (
        <section class="card stack" aria-label={words.title}>
          <p class="muted" role="status">
            {words.total(page.total)}
          </p>
          {page.sensors.length > 0 && (
            <Table
              caption={words.caption}
              columns={[
                {
                  name: fields.id,
                  cell: (row: Sensor) => (
                    <a class="mono" href={`/sensors/${encodeURIComponent(row.id)}`}>
                      {row.id}
                    </a>
                  ),
                },
                {
                  name: words.state,
                  cell: (row) => (
                    <span class="row">
                      <Badge of={{ label: words.states[row.state], kind: kinds[row.state] }} />
                      {seemsSilent(row) && (
                        <button
                          type="button"
                          class="quiet"
                          aria-label={silence.askOf(row.id)}
                          onClick={() => setManaged(row.id)}
                        >
                          {silence.ask}
                        </button>
                      )}
                    </span>
                  ),
                },
                { name: words.index, cell: (row) => <Aqi aqi={row.aqi} /> },
                {
                  name: words.lastReading,
                  cell: (row) =>
                    row.last_reading === null ? (
                      words.noReading
                    ) : (
                      <When at={row.last_reading} as="ago" />
                    ),
                },
                { name: fields.area, cell: (row) => row.area },
                { name: fields.address, cell: (row) => row.address },
                {
                  name: words.every,
                  isNumber: true,
                  cell: (row) => duration(row.cadence_seconds),
                },
                {
                  name: words.manage,
                  cell: (row) => (
                    <button
                      type="button"
                      aria-label={words.manageOf(row.id)}
                      onClick={() => setManaged(row.id)}
                    >
                      {words.manage}
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
                {words.previous}
              </button>
            )}
            {page.next !== null && (
              <button type="button" onClick={() => setEnds([...ends, page.next ?? ''])}>
                {words.next}
              </button>
            )}
          </div>
        </section>
      )}
      <Dialog title={words.add} isOpen={isAdding} close={() => setAdding(false)}>
        <AddSensor onAdded={answer.again} close={() => setAdding(false)} />
      </Dialog>
      <Dialog title={managed} isOpen={managed !== ''} close={() => setManaged('')}>
        {managed !== '' && (
          <ManageSensor id={managed} onChange={answer.again} close={() => setManaged('')} />
        )}
      </Dialog>
      <Dialog title={words.importList} isOpen={isImporting} close={() => setImporting(false)}>
        <ImportSensors onDone={answer.again} />
      </Dialog>
    </>
  )
}
