import { Aqi } from '../../parts/aqi.tsx'
import { memo } from '../../parts/memo.ts'
import { When } from '../../parts/when.tsx'
import type { CitySensor } from './city-sensor.ts'

type ListProps = {
  readonly sensors: readonly CitySensor[]
  /** How many of them are shown. */
  readonly shown: number
  readonly showMore: () => void
  /** While the reader uses it, its order stays. */
  readonly hold: (isHeld: boolean) => void
}

/** Everything the map shows, as text; it needs neither eyes nor a mouse. */
export function SensorList({ sensors, shown, showMore, hold }: ListProps) {
  return (
    <div
      class="sensor-list"
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      <ul aria-label="Sensors">
        {sensors.slice(0, shown).map((sensor) => (
          <Row key={sensor.id} sensor={sensor} minute={Math.floor(Date.now() / 60_000)} />
        ))}
      </ul>
      {sensors.length > shown && (
        <button type="button" class="quiet" onClick={showMore}>
          Show {Math.min(100, sensors.length - shown)} more of {sensors.length}
        </button>
      )}
    </div>
  )
}

type RowProps = {
  readonly sensor: CitySensor
  /** Rows with a time ago are rendered again as minutes pass. */
  readonly minute: number
}

const Row = memo(({ sensor }: RowProps) => {
  const { id, address, isOnline, lastMs, aqi } = sensor
  return (
    <li>
      <a href={`/sensors/${id}`}>
        {isOnline ? <Aqi aqi={aqi} /> : <span class="badge">offline</span>}
        <span class="what">
          <span class="id">{id}</span>
          <span class="hint">{address}</span>
        </span>
        <span class="hint when">
          {lastMs === null ? 'never heard' : <When at={lastMs} as="ago" />}
        </span>
      </a>
    </li>
  )
})
