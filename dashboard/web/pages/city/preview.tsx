/** A sensor beside the map: what it says now, and its day in a line. The map stays as it is. */
import { useCallback, useEffect, useRef } from 'preact/hooks'
import { getJson } from '../../data.ts'
import { namesOf } from '../../parts/air/quantity-names.ts'
import { binOf, type Scale } from '../../parts/air/scales.ts'
import { Loading } from '../../parts/states.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { format, texts } from '../../texts.ts'
import type { CitySensor } from './city-sensor.ts'
import type { Shown } from './shown.ts'

const words = texts.map

type PreviewProps = {
  readonly sensor: CitySensor
  readonly shown: Shown
  readonly close: () => void
}

export function Preview({ sensor, shown, close }: PreviewProps) {
  const { id, address, area, isOnline, lastMs } = sensor
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus({ preventScroll: true }), [id])
  const value = shown.valueFor(sensor)
  const bin = shown.scale.bins[binOf(shown.scale, value)]
  return (
    <section
      ref={panel}
      class="preview"
      tabIndex={-1}
      aria-label={words.preview.label(address || id)}
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <button type="button" class="preview-close" aria-label={words.preview.close} onClick={close}>
        ×
      </button>
      <p class="preview-name" dir="auto">
        {address || id}
      </p>
      <p class="hint">
        <bdi>{id}</bdi> · <bdi>{area}</bdi>
      </p>
      <p class="preview-value">
        {value === null ? (
          <span class="muted">
            {isOnline ? words.noValue : lastMs === null ? words.noData : words.offline}
          </span>
        ) : (
          <>
            <Swatch color={bin?.color} />
            <b class="number">{format.number(value, shown.scale.digits)}</b> {shown.scale.unit}
            {bin?.words !== undefined && <span>{bin.words}</span>}
          </>
        )}
      </p>
      <p class="hint">
        {kindOf(shown)}
        {lastMs !== null && (
          <>
            {' '}
            · <When at={lastMs} as="ago" />
          </>
        )}
      </p>
      <Day id={id} shown={shown} />
      <a class="preview-open" href={`/sensors/${encodeURIComponent(id)}`}>
        {words.preview.open}
      </a>
    </section>
  )
}

/** What the number is, in words. */
export const kindOf = ({ quantity, mean, index }: Shown): string =>
  quantity === 'aqi' ? `${words.indices[index]}, ${words.means[mean]}` : namesOf(quantity).short

export const Swatch = ({ color }: { readonly color: string | undefined }) => (
  <svg class="swatch" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <circle cx="8" cy="8" r="6.5" fill={color ?? 'none'} />
  </svg>
)

type Step = {
  readonly aqi: { readonly mean: number | null }
  readonly measurements: Readonly<Record<string, { readonly mean: number | null } | undefined>>
}
type Statistics = { readonly statistics: readonly Step[] }

const againMs = 5 * 60_000

function Day({ id, shown }: { readonly id: string; readonly shown: Shown }) {
  const { quantity, scale } = shown
  const name = quantity === 'aqi' ? 'pm25' : quantity
  const answer = useAnswer(
    (signal) => getJson<Statistics>(dayPath(id, name), { signal }),
    [id, name],
  )
  useEvery(againMs, useCallback(answer.again, []))
  const { value, error } = answer
  if (value === undefined)
    return error === undefined ? <Loading /> : <p class="hint">{words.valuesAway}</p>
  const values = valuesOf(value, quantity)
  const known = values.filter((one) => one !== null)
  if (known.length === 0) return <p class="hint">{words.preview.noDay}</p>
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const digits = (one: number): string => format.number(one, scale.digits)
  return (
    <figure class="preview-day">
      <Spark values={values} scale={scale} label={words.preview.dayOf(digits(low), digits(high))} />
      <figcaption class="hint">
        {words.preview.day}: {digits(low)} – {digits(high)} {scale.unit}
      </figcaption>
    </figure>
  )
}

const dayPath = (id: string, name: string): string => {
  const hourMs = 3_600_000
  const from = new Date((Math.floor(Date.now() / hourMs) - 23) * hourMs).toISOString()
  return `/data/v1/sensors/${encodeURIComponent(id)}/statistics?interval=hour&measurements=${name}&start_time=${from}`
}

function valuesOf(
  { statistics }: Statistics,
  quantity: Shown['quantity'],
): readonly (number | null)[] {
  return statistics.map(({ aqi, measurements }) =>
    quantity === 'aqi' ? aqi.mean : (measurements[quantity]?.mean ?? null),
  )
}

type SparkProps = {
  readonly values: readonly (number | null)[]
  readonly scale: Scale
  readonly label: string
}

const size = { width: 240, height: 44 }

/** A bar per hour in its colour; a gap stays a gap. */
function Spark({ values, scale, label }: SparkProps) {
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  // from zero where everything is above it, so that bars compare
  const base = low >= 0 && low < high * 0.75 ? 0 : low - (high - low || 1) * 0.2
  const width = size.width / values.length
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${size.width} ${size.height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, at) => {
        if (value === null) return null
        const height = Math.max(2, ((value - base) / (high - base || 1)) * size.height)
        return (
          <rect
            key={at}
            x={at * width + 0.5}
            y={size.height - height}
            width={Math.max(1, width - 1)}
            height={height}
            fill={scale.bins[binOf(scale, value)]?.color}
          />
        )
      })}
    </svg>
  )
}
