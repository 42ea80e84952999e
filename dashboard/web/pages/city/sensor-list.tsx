import { Component, type FunctionComponent, h } from 'preact'
import { Aqi } from '../../parts/air/aqi.tsx'
import { binOf } from '../../parts/air/scales.ts'
import { When } from '../../parts/time/when.tsx'
import { texts as all, format } from '../../texts.ts'
import type { CitySensor } from './city-sensor.ts'
import { pointed } from './pointed.ts'
import { Swatch } from './preview.tsx'
import { type Shown, shownNow } from './shown.ts'

const { city } = all
const texts = city.list

type ListProps = {
  /** The first of them. */
  readonly sensors: readonly CitySensor[]
  /** Of all. */
  readonly count: number
  readonly showMore: () => void
  /** While the reader uses it, its order stays. */
  readonly hold: (isHeld: boolean) => void
}

/** Everything the map shows, as text; it needs neither eyes nor a mouse. */
export function SensorList({ sensors, count, showMore, hold }: ListProps) {
  return (
    <div
      class="sensor-list"
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      <ul aria-label={texts.label}>
        {sensors.map((sensor) => (
          <Row
            key={sensor.id}
            sensor={sensor}
            shown={shownNow.value}
            isPointed={pointed.value === sensor.id}
          />
        ))}
      </ul>
      {count > sensors.length && (
        <button type="button" class="quiet" onClick={showMore}>
          {texts.more(format.number(Math.min(100, count - sensors.length)), format.number(count))}
        </button>
      )}
    </div>
  )
}

type RowProps = {
  readonly sensor: CitySensor
  readonly shown: Shown | undefined
  /** On the map. */
  readonly isPointed: boolean
}

const Row = memo(({ sensor, shown, isPointed }: RowProps) => {
  const { id, address, isOnline, lastMs } = sensor
  return (
    <li
      class={isPointed ? 'is-pointed' : ''}
      onPointerEnter={() => (pointed.value = id)}
      onPointerLeave={() => (pointed.value = undefined)}
      onFocusIn={() => (pointed.value = id)}
      onFocusOut={() => (pointed.value = undefined)}
    >
      <a href={`/sensors/${id}`}>
        {isOnline ? (
          <Value sensor={sensor} shown={shown} />
        ) : (
          <span class="badge">{lastMs === null ? texts.neverSent : texts.offline}</span>
        )}
        <span class="what">
          <span class="place">{address || id}</span>
          {address !== '' && <span class="hint mono">{id}</span>}
        </span>
        <span class="hint when">{lastMs !== null && <When at={lastMs} as="ago" />}</span>
      </a>
    </li>
  )
})

/** The same as its mark on the map. */
function Value({ sensor, shown }: Pick<RowProps, 'sensor' | 'shown'>) {
  if (shown === undefined) return <Aqi aqi={sensor.aqi} />
  const value = shown.valueFor(sensor)
  if (shown.quantity === 'aqi' && shown.index === 'us') return <Aqi aqi={value} />
  if (value === null) return <span class="muted">–</span>
  return (
    <span class="aqi">
      <Swatch color={shown.scale.bins[binOf(shown.scale, value)]?.color} />
      <b>{format.number(value, shown.scale.digits)}</b>
    </span>
  )
}

/** Renders again only where a property has changed. */
function memo<Props extends object>(render: FunctionComponent<Props>): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const was = Object.entries(this.props)
      const now = new Map<string, unknown>(Object.entries(next))
      return was.length !== now.size || was.some(([name, value]) => now.get(name) !== value)
    }
    override render(props: Props) {
      return h(render, props)
    }
  }
  return (props) => h(Memo, props)
}
