import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { getJson } from '../../data.ts'
import { config, me } from '../../me.ts'
import { Legend } from '../../parts/legend.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { AreaCard } from './area-card.tsx'
import './city.css'
import { type CitySensor, choose, type Order, orders } from './city-sensor.ts'
import { type LiveCity, openLiveCity } from './live-city.ts'
import { MapView } from './map-view.tsx'
import { SensorList } from './sensor-list.tsx'
import { useFewTimesASecond } from './use-few-times.ts'

type Areas = {
  readonly network: { readonly name: string }
  readonly areas: readonly { readonly name: string }[]
}

/** The city now: map, list, and how the last day was. */
export function CityPage() {
  const live = useMemo(openLiveCity, [])
  useEffect(() => live.close, [live])
  const listed = live.listed.value
  // loaded again when the sensors arrive late: the same fault delayed both
  const areas = useAnswer(
    (signal) => getJson<Areas>('/data/v1/areas', { signal }),
    [listed instanceof Error],
  ).value
  const area = useSignal('')
  if (listed instanceof Error) return <Failed error={listed} retry={live.again} />
  if (listed && live.sensors.size === 0) return <NoSensors />
  return (
    <div class="city">
      <h1 class="visually-hidden">The air of {areas?.network.name ?? 'the city'} now</h1>
      <div class="city-map card">
        <MapView live={live} area={area.value} />
        <LineState live={live} />
        <details class="map-key">
          <summary>Legend</summary>
          <Legend />
        </details>
      </div>
      <Beside live={live} areas={areas} area={area.value} setArea={(name) => (area.value = name)} />
      <div class="city-area">
        {areas !== undefined && <AreaCard name={area.value || areas.network.name} />}
      </div>
    </div>
  )
}

type BesideProps = {
  readonly live: LiveCity
  readonly areas: Areas | undefined
  readonly area: string
  readonly setArea: (name: string) => void
}

function Beside({ live, areas, area, setArea }: BesideProps) {
  const turn = useFewTimesASecond(live)
  const search = useSignal('')
  const order = useSignal<Order>('worst')
  const shown = useSignal(60)
  const isHeld = useRef(false)
  const filter = `${search.value}|${area}|${order.value}|${live.sensors.size}`
  const held = useRef<{ filter: string; ids: readonly string[] } | undefined>(undefined)
  const sensors = useMemo(() => {
    const wanted = { search: search.value, area, order: order.value }
    const chosen =
      isHeld.current && held.current?.filter === filter
        ? held.current.ids.map((id) => live.sensors.get(id)).filter((s) => s !== undefined)
        : choose(live.sensors.values(), wanted)
    held.current = { filter, ids: chosen.map(({ id }) => id) }
    return chosen
  }, [turn, filter])
  return (
    <section class="city-list card" aria-labelledby="sensors">
      <h2 id="sensors">
        Sensors <Count sensors={sensors} />
      </h2>
      <div class="city-filters">
        <label>
          <span class="visually-hidden">Search by id or address</span>
          <input
            type="search"
            placeholder="Search by id or address"
            value={search.value}
            onInput={({ currentTarget }) => (search.value = currentTarget.value)}
          />
        </label>
        <label>
          <span class="visually-hidden">Area</span>
          <select value={area} onChange={({ currentTarget }) => setArea(currentTarget.value)}>
            <option value="">
              {areas === undefined ? 'All areas' : `All of ${areas.network.name}`}
            </option>
            {areas?.areas.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="visually-hidden">Order</span>
          <select
            value={order.value}
            onChange={({ currentTarget }) => (order.value = orderOf(currentTarget.value))}
          >
            {Object.entries(orders).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      {!live.listed.value ? (
        <Loading what="Listing the sensors…" />
      ) : sensors.length === 0 ? (
        <Empty title="No sensor fits">
          <p>Search for another part of an id or an address, or choose all areas.</p>
        </Empty>
      ) : (
        <SensorList
          sensors={sensors}
          shown={shown.value}
          showMore={() => (shown.value += 100)}
          hold={(is) => (isHeld.current = is)}
        />
      )}
    </section>
  )
}

const orderOf = (name: string): Order =>
  name === 'best' || name === 'id' || name === 'silent' ? name : 'worst'

function Count({ sensors }: { readonly sensors: readonly CitySensor[] }) {
  const offline = sensors.filter(({ isOnline }) => !isOnline).length
  return (
    <span class="hint" role="status">
      {sensors.length}
      {offline > 0 && `, ${offline} offline`}
    </span>
  )
}

/** How live the page is, in words. */
function LineState({ live }: { readonly live: LiveCity }) {
  const line = live.line.value
  return (
    <p class="line-state badge" role="status" data-state={line.state}>
      {line.state === 'live' && 'Live'}
      {line.state === 'connecting' && 'Connecting…'}
      {line.state === 'lost' && (
        <span>
          Not live since <When at={line.sinceMs} />; connecting again
        </span>
      )}
    </p>
  )
}

/** The first steps of a new network. */
const NoSensors = () => (
  <Empty title="No sensors yet">
    <p>
      The network’s operator registers each with its place; then it may publish, and appears here
      with its first reading.
    </p>
    <pre tabIndex={0} aria-label="Command that registers a sensor">
      <code>
        airproof sensors add NGR-LOS-IKJ-001 --area Ikeja --lat 6.6018 --lon 3.3515 --address "1
        Allen Avenue"
      </code>
    </pre>
    <p>
      Or play a city: <code>airproof simulate --sensors 40</code>
    </p>
    {me.value && config.value.api !== '' && (
      <>
        <h3>Ask the API</h3>
        <Snippets path="/v1/sensors?limit=5" />
      </>
    )}
  </Empty>
)
